import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type LogLine, lastPerPod, linesLike } from '../../facts/logs/log-search.ts';
import { isManaged } from '../../facts/provider.ts';
import type { Scope } from '../../facts/scope.ts';
import { lastValue } from '../../facts/series.ts';
import { duration } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const clientAlert = /^KubeClientCertificateExpiration$/;
const kubeletAlert = /^Kubelet(Client|Server)Certificate(Expiration|RenewalErrors)$/;
/** Parts of a control plane that one runs oneself: their pods and their own certificates. */
const component = /^(kube-apiserver|kube-controller-manager|kube-scheduler|etcd|cloud-controller-manager)/;
const expired =
  /x509: certificate has expired|certificate has expired or is not yet valid|tls: (?:expired certificate|failed to verify certificate: x509: certificate has expired)|verify error: certificate has expired/i;

export default rule({
  title:
    'Certificates of the cluster’s own parts run out: a kubelet’s, a client’s, or those of a control plane one runs oneself',
  lookAlikes: [
    'nodes that are already lost to expired certificates: another rule',
    'a webhook’s or an aggregated API’s certificate: theirs',
    'the certificate of a public host: cert-manager’s matter',
  ],
  judge(facts, scope) {
    return [...ofKubelets(facts, scope), ...ofClients(facts), ...ofControlPlane(facts)];
  },
});

/** The kubelet renews its own; where it does not, the node’s owner has switched rotation off or nobody signs. */
const ofKubelets = (facts: ClusterFacts, scope: Scope): FindingDraft[] => {
  const alert = facts.alerts.find((entry) => kubeletAlert.test(entry.labels.alertname ?? ''));
  if (!alert) return [];
  const names = new Set(facts.alerts.flatMap((entry) => entry.labels.node ?? []));
  const nodes = facts.all('Node').filter((node) => names.has(node.metadata.name));
  const evidence = cite('platform', facts);
  const renewal = /RenewalErrors/.test(alert.labels.alertname ?? '');
  const left = facts
    .series('kubelet_certificate_manager_client_ttl_seconds')
    .filter((series) => !series.labels.node || names.has(series.labels.node))[0];
  const ttl = left ? lastValue(left) : Number.NaN;
  return [
    {
      mechanism: 'certificate',
      explains: ['unknown-symptom'],
      owner: 'platform',
      boundary: 'node',
      strength: renewal || left || nodes.length > 0 ? 'direct' : 'derived',
      cause: text(
        `The certificate of the kubelet on ${names.size > 0 ? [...names].slice(0, 3).join(', ') : 'some nodes'} ${renewal ? 'cannot be renewed' : `runs out${ttl > 0 ? ` in ${duration(ttl / 60)}` : ' soon'} and has not been renewed`}.`,
      ),
      root: nodes[0] ? refOf(nodes[0]) : { kind: 'Node', name: [...names][0] ?? 'unknown' },
      affects: nodes.length > 0 ? nodes.map(refOf) : scope.wide ? 'cluster' : scope.subjectNodes.map(refOf),
      onset: alert.startsAt,
      evidence: [
        ...(left ? [evidence.series(left, `${Math.round(ttl)} s left`)] : []),
        ...nodes.slice(0, 2).map((node) => evidence.condition(node, 'Ready')),
      ],
      chain: nodes.slice(0, 2).map((node) => ({
        object: `Node ${node.metadata.name}`,
        uid: node.metadata.uid,
        claim: 'its kubelet’s certificate is not renewed',
      })),
      nextSteps: [
        text(
          'kubectl get csr: approve what is Pending (serving certificates need an approver of the cluster’s own), and set rotateCertificates and serverTLSBootstrap in the kubelet’s configuration.',
        ),
      ],
    },
  ];
};

/** The API server counts by remaining time and not by client: whose certificate it is only an audit log tells. */
const ofClients = (facts: ClusterFacts): FindingDraft[] => {
  const alert = facts.alerts.find((entry) => clientAlert.test(entry.labels.alertname ?? ''));
  if (!alert) return [];
  const evidence = cite('platform', facts);
  const buckets = facts
    .seriesLike(/^apiserver_client_certificate_expiration_seconds/)
    .filter((series) => lastValue(series) > 0)
    .slice(0, 2);
  return [
    {
      mechanism: 'certificate',
      explains: [],
      owner: 'undetermined',
      boundary: null,
      strength: 'derived',
      cause: text(
        'Some client signs in to the API server with a certificate that runs out soon; the metric counts certificates and names no client.',
      ),
      root: { kind: 'Cluster', name: facts.identity.name },
      affects: 'cluster',
      onset: alert.startsAt,
      evidence: buckets.map((series) => evidence.series(series, `${lastValue(series)}`)),
      chain: [{ object: `API server of ${facts.identity.name}`, claim: 'sees a client certificate near its end' }],
      nextSteps: [
        text(
          'Look through the kubeconfigs that bear client certificates: pipelines, scrapers, break-glass users, kubelets.',
        ),
      ],
      missing: [
        {
          layer: 'platform',
          missing: 'whose client certificate it is',
          fix: isManaged(facts)
            ? 'the audit log of the control plane: user.username of requests that were authenticated by certificate'
            : 'kubeadm certs check-expiration on each control-plane node, and the audit log’s users',
        },
      ],
    },
  ];
};

/** Pods of the control plane are to be seen only where the customer runs it. */
const ofControlPlane = (facts: ClusterFacts): FindingDraft[] => {
  if (isManaged(facts)) return [];
  const lines: LogLine[] = lastPerPod(
    linesLike(facts, expired, (log) => log.namespace === 'kube-system' && component.test(log.pod)),
  ).filter(({ line }) => !/failed calling webhook|aggregat|apiservice/i.test(line));
  if (lines.length === 0) return [];
  const evidence = cite('platform', facts);
  const parts = [...new Set(lines.map(({ log }) => component.exec(log.pod)![1]!))];
  return [
    {
      mechanism: 'certificate',
      explains: [
        'control-plane',
        'etcd',
        'controller-down',
        'crash',
        'node-silent',
        'pending',
        'rollout',
        'webhook',
        'unknown-symptom',
        'probe',
      ],
      owner: 'platform',
      boundary: 'control-plane',
      strength: 'direct',
      cause: text(
        `Certificates of the control plane have run out: ${parts.join(', ')} ${parts.length === 1 ? 'is' : 'are'} refused (“${lines[0]!.line.trim().slice(0, 200)}”).`,
      ),
      root: { kind: 'Pod', namespace: 'kube-system', name: lines[0]!.log.pod },
      affects: 'cluster',
      evidence: lines.slice(0, 4).map(({ log, line }) => evidence.log(log, line)),
      chain: lines
        .slice(0, 3)
        .map(({ log }) => ({ object: `Pod kube-system/${log.pod}`, claim: 'meets an expired certificate' })),
      nextSteps: [
        text(
          'On each control-plane node: kubeadm certs check-expiration; kubeadm certs renew all; then restart the static pods (kops: kops rolling-update cluster; k3s and rke2: restart the server).',
        ),
      ],
    },
  ];
};
