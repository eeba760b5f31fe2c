/** Labels of an alert, `exported_*` already in place of the scraped target's own. */
export type Labels = Record<string, string>;

/**
 * Who measured, where it measures other things than itself. `objects`: kube-state-metrics and probers, whose pod,
 * container and service labels may be their own. `nodes`: node-exporter, whose namespace too is its own and whose
 * instance is the node. `kubelet`: pod and volume labels are the measured ones, the rest its own. `controller`:
 * Karpenter, Cluster Autoscaler and their like, whose namespace is never the victim's. `control-plane`: all target labels
 * are the component's.
 */
export type ExporterKind = 'objects' | 'nodes' | 'kubelet' | 'controller' | 'control-plane';

/** By scrape job: kube-prometheus' and Helm's names, plain or after a release's or a namespace's. */
const byJob: [ExporterKind, RegExp][] = [
  ['objects', /(^|[-_./])(kube-state-metrics|blackbox(-exporter)?)$|ingress-nginx|nginx-ingress/],
  ['nodes', /(^|[-_./])node[-_]exporter$/],
  ['kubelet', /(^|[-_./])(kubelet|cadvisor|kube-proxy)$|^kubernetes-(nodes|nodes-cadvisor)$/],
  ['controller', /(^|[-_./])(karpenter|cluster-autoscaler|keda-operator(-metrics-apiserver)?|descheduler)$/],
  [
    'control-plane',
    /(^|[-_./])kube-(api|apiserver|scheduler|controller-manager|etcd)$|^(apiserver|etcd|kubernetes|kubernetes-apiservers?)$/,
  ],
];

/** By alert name where the job does not tell: the mixins' prefixes. */
const byAlert: [ExporterKind, RegExp][] = [
  ['controller', /^(Karpenter|ClusterAutoscaler)[A-Z]/],
  ['control-plane', /^Kube(API|Scheduler|ControllerManager)[A-Z]/],
  ['nodes', /^Node(Filesystem|Network|HighNumber|TextFile|Clock|RAID|FileDescriptor|CPU|System|Memory|Disk|Bonding)/],
];

export const exporterOf = (labels: Labels): ExporterKind | null =>
  byJob.find(([, pattern]) => pattern.test(labels.job ?? ''))?.[0] ??
  byAlert.find(([, pattern]) => pattern.test(labels.alertname ?? ''))?.[0] ??
  null;

const targetLabels = ['namespace', 'pod', 'container', 'service', 'endpoint', 'instance', 'job', 'node'];

/**
 * Prometheus renames a measured label to `exported_*` where the scraped target has one of the same name. Then the plain
 * label is the target's, and so are the other target labels: the measured ones that do not clash stay plain.
 */
const withoutExported = (labels: Labels): Labels => {
  const exported = targetLabels.filter((label) => labels[`exported_${label}`]);
  if (exported.length === 0) return labels;
  const kept = Object.entries(labels).filter(([label]) => label === 'node' || !targetLabels.includes(label));
  const measured = exported.map((label) => [label, labels[`exported_${label}`]!] as const);
  return Object.fromEntries([...kept, ...measured]);
};

/** The rule watches the target itself: `up == 0` and its like. */
const watchesTarget = (alertname: string, exporter: ExporterKind): boolean =>
  alertname === 'TargetDown' ||
  (exporter !== 'nodes' && exporter !== 'kubelet' && /(Down|Absent|Missing)$/.test(alertname));

/** Rules that name the pod they are about, be it the exporter's own. */
const aboutPods = /^(KubePod[A-Z]|KubeContainer[A-Z]|CPUThrottling)/;

const sidecar = /^kube-rbac-proxy/;

/** Names of the pods, containers and Services of `objects` exporters. */
const ownName = /kube-rbac-proxy|kube-state-metrics|blackbox|ingress-nginx|nginx-ingress/;

const withoutOwnOf = (labels: Labels, names: string[], isOwn: (value: string) => boolean): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([label, value]) => !names.includes(label) || !isOwn(value)));

/** The labels without those that name the exporter in place of what it measured. */
export const measuredLabels = (all: Labels): Labels => {
  const labels = withoutExported(all);
  const exporter = exporterOf(labels);
  const alertname = labels.alertname ?? '';
  const always = (): boolean => true;
  if (!exporter) return withoutOwnOf(labels, ['container'], (value) => sidecar.test(value));
  if (exporter === 'control-plane') return withoutOwnOf(labels, targetLabels, always);
  if (watchesTarget(alertname, exporter)) {
    const names = exporter === 'kubelet' ? ['namespace', 'service', 'container'] : ['container'];
    return withoutOwnOf(labels, names, always);
  }
  switch (exporter) {
    case 'objects': {
      const own = aboutPods.test(alertname) ? ['service'] : ['pod', 'container', 'service'];
      const cleaned = withoutOwnOf(labels, own, (value) => ownName.test(value));
      return withoutOwnOf(cleaned, ['container'], (value) => sidecar.test(value));
    }
    case 'nodes':
      return withoutOwnOf(labels, ['namespace', 'pod', 'container', 'service'], always);
    case 'kubelet': {
      const measuresPods = Boolean(labels.pod || labels.persistentvolumeclaim);
      return withoutOwnOf(labels, measuresPods ? ['service'] : ['namespace', 'service', 'container'], always);
    }
    case 'controller':
      return withoutOwnOf(labels, ['namespace', 'pod', 'container', 'service'], always);
  }
};
