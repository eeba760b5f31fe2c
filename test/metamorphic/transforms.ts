import { isPlatformNamespace } from '../../src/facts/ownership.ts';
import { type CaseFiles, chance, objectsOf, withObjects } from './case-files.ts';

/** Names that Kubernetes, a provider or an add-on gives, and words too common to be replaced in logs. */
const keptNames =
  /^(apps|batch|policy|autoscaling|events|default|general-purpose|system|coredns|karpenter|aws-node|kube-.*|.{1,3})$/;

const letters = 'bcdfghjklmnpqrstvwxz';

/** Renames namespaces, workloads, pods, nodes, pools and uids of a case, everywhere they occur. */
export const renamed = (files: CaseFiles): CaseFiles => {
  const random = chance(7);
  const word = (length: number): string =>
    Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
  const names = new Map<string, string>();
  const give = (name: string | undefined): void => {
    if (name && !keptNames.test(name) && !names.has(name)) names.set(name, `${word(4)}-${word(6)}`);
  };
  for (const { items } of objectsOf(files)) {
    for (const { kind, metadata } of items) {
      if (['Event', 'Lease', 'CSIDriver', 'StorageClass', 'APIService'].includes(kind)) continue;
      const namespace = kind === 'Namespace' ? metadata.name : metadata.namespace;
      const ofPlatform = namespace !== undefined && isPlatformNamespace(namespace);
      if (!ofPlatform && !/Webhook/.test(kind)) give(metadata.name);
      if (metadata.uid) names.set(metadata.uid, `${word(8)}-${word(4)}-${word(4)}-${word(4)}-${word(12)}`);
    }
  }
  const longestFirst = [...names.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![A-Za-z0-9_])(${longestFirst.join('|')})(?![A-Za-z0-9_])`, 'g');
  const replace = (text: string): string => text.replace(pattern, (name) => names.get(name) ?? name);
  /** Keys of a JSON object are the API's own words; names are values, and keys of maps such as node labels are not renamed. */
  const inJson = (value: any): any => {
    if (typeof value === 'string') return replace(value);
    if (Array.isArray(value)) return value.map(inJson);
    return value && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inJson(inner)]))
      : value;
  };
  return new Map(
    [...files].map(([path, text]): [string, string] => {
      // case.json's id and cluster are labels of the case, not of an object in it.
      if (path === 'case.json') return [path, text];
      return [replace(path), path.endsWith('.json') ? JSON.stringify(inJson(JSON.parse(text))) : replace(text)];
    }),
  );
};

/** Another order of objects in every list. */
export const shuffled = (files: CaseFiles): CaseFiles => {
  const random = chance(11);
  return withObjects(files, (items) =>
    items
      .map((item) => ({ item, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item),
  );
};

/** Ten times the healthy nodes and app pods, under names of their own. */
export const grown = (files: CaseFiles): CaseFiles => {
  const template = objectsOf(files)
    .flatMap(({ items }) => items)
    .find(
      ({ kind, spec, status }) =>
        kind === 'Pod' &&
        spec?.nodeName &&
        status?.conditions?.some((c: any) => c.type === 'Ready' && c.status === 'True'),
    );
  const node = objectsOf(files)
    .flatMap(({ items }) => items)
    .find(({ kind, metadata }) => kind === 'Node' && metadata.name === template?.spec.nodeName);
  if (!template || !node) return files;
  return withObjects(files, (items, path) => {
    if (/\/pods\.json$/.test(path))
      return [...items, ...Array.from({ length: 9 * items.length }, (_, i) => neighbour(template, i))];
    if (/\/nodes\.json$/.test(path))
      return [...items, ...Array.from({ length: 9 * items.length }, (_, i) => neighbourNode(node, i))];
    return items;
  });
};

const neighbour = (pod: any, i: number): any => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    name: `neighbour-${i}`,
    namespace: `neighbours-${i % 20}`,
    uid: `neighbour-pod-${i}`,
    labels: { app: 'neighbour' },
    ownerReferences: undefined,
  },
  spec: { ...pod.spec, nodeName: `neighbour-node-${i % 9}` },
});

const neighbourNode = (node: any, i: number): any => ({
  ...node,
  metadata: {
    ...node.metadata,
    name: `neighbour-node-${i}`,
    uid: `neighbour-node-${i}`,
    // Of no pool: a pool that grows ten-fold would be another incident.
    labels: Object.fromEntries(
      Object.entries(node.metadata.labels ?? {}).filter(([key]) => !/nodepool|nodegroup|agentpool/.test(key)),
    ),
  },
  spec: { ...node.spec, providerID: `${node.spec?.providerID ?? ''}0${i}` },
});

/** Another team's crash loop and pending pod, and the autoscaler's usual churn. */
export const noisy = (files: CaseFiles): CaseFiles => {
  const { captured_at: now } = JSON.parse(files.get('case.json')!);
  const at = new Date(Date.parse(now) - 20 * 60_000).toISOString().replace('.000Z', 'Z');
  const pod = (name: string, status: any, nodeName?: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'strangers',
      uid: `uid-${name}`,
      creationTimestamp: at,
      labels: { app: name, team: 'strangers' },
    },
    spec: {
      containers: [{ name: 'app', image: 'registry.example.com/strangers/app:1.0.0' }],
      ...(nodeName ? { nodeName } : { nodeSelector: { 'strangers.example.com/only': 'true' } }),
    },
    status,
  });
  const noise = [
    pod(
      'stranger-crash',
      {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at }],
        containerStatuses: [
          {
            name: 'app',
            ready: false,
            restartCount: 9,
            state: {
              waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container=app' },
            },
            lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: at } },
          },
        ],
      },
      'stranger-node',
    ),
    pod('stranger-pending', {
      phase: 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
          lastTransitionTime: at,
        },
      ],
    }),
    churn('DisruptionTerminating', 'Disrupting Node: Underutilized', at),
    churn('RemovingNode', 'Node stranger-node event: Removing Node stranger-node from Controller', at),
  ];
  const changed = new Map(files);
  changed.set('cluster/strangers.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: noise }));
  return changed;
};

const churn = (reason: string, message: string, at: string): any => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `stranger-node.${reason}`, namespace: 'default', uid: `uid-${reason}`, creationTimestamp: at },
  involvedObject: { kind: 'Node', name: 'stranger-node' },
  type: 'Normal',
  reason,
  message,
  count: 1,
  firstTimestamp: at,
  lastTimestamp: at,
  reportingComponent: 'karpenter',
});

/** What Kubernetes says in other words in other versions. */
export const reworded = (files: CaseFiles): CaseFiles => {
  const words: [RegExp, string][] = [
    [/node\(s\) had untolerated taint \{[^}]*\}/g, 'node(s) had untolerated taint(s)'],
    [/node\(s\) had volume node affinity conflict/g, "node(s) didn't match PersistentVolume's node affinity"],
    [/\. preemption: 0\//g, '. no new claims to deallocate, preemption: 0/'],
    [/for nodepool \(NodePool=([^)]+)\)/g, 'for nodepool: \\"$1\\"'],
    [/Created container: [\w-]+/g, 'Container created'],
    [/Started container [\w-]+/g, 'Container started'],
  ];
  return new Map(
    [...files].map(([path, text]) => [path, words.reduce((changed, [from, to]) => changed.replace(from, to), text)]),
  );
};

/** The same case without one of its sources: nothing was collected there. */
export const without =
  (source: RegExp) =>
  (files: CaseFiles): CaseFiles =>
    new Map([...files].filter(([path]) => !source.test(path)));
