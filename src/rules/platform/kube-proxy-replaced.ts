import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { isReady } from '../../facts/pods.ts';
import { addMinutes } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const proxyAlert = /^KubeProxy(Down|InstanceUnreachable)$/;
/** Agents of dataplanes that do kube-proxy's work: Google's Dataplane V2 and Cilium. */
const dataplane = /^(anetd|cilium)(-|$)/;

export default rule({
  title: 'KubeProxyDown where another dataplane has replaced kube-proxy, so that there is nothing to scrape',
  lookAlikes: ['kube-proxy exists and its target is gone', 'the dataplane that replaces it is itself not ready'],
  judge(facts) {
    if (facts.alerts.length === 0 || !facts.alerts.every((alert) => proxyAlert.test(alert.labels.alertname ?? '')))
      return [];
    const pods = facts.in('Pod', 'kube-system');
    if (pods.some((pod) => pod.metadata.name.startsWith('kube-proxy'))) return [];
    const agents = pods.filter(
      (pod) => dataplane.test(pod.metadata.name) && !/operator|hubble/.test(pod.metadata.name),
    );
    const builtIn = facts.identity.provider === 'eks-auto';
    if (!builtIn && (agents.length === 0 || !agents.every(isReady))) return [];
    const evidence = cite('platform', facts);
    const set = agents[0] && facts.workloadOf(agents[0]);
    return [
      {
        mechanism: 'heartbeat',
        explains: ['heartbeat', 'unknown-symptom', 'control-plane'],
        state: 'expected',
        owner: 'platform',
        boundary: null,
        strength: 'derived',
        cause: text(
          `KubeProxyDown: this cluster runs no kube-proxy to scrape; ${set ? `${set.kind} ${set.metadata.name} does its work and is ready on ${agents.length} nodes` : 'EKS Auto Mode runs it inside the node'}. Switch the rule off here.`,
        ),
        root: set ? refOf(set) : { kind: 'Cluster', name: facts.identity.name },
        affects: 'cluster',
        onset: facts.alerts[0]!.startsAt,
        evidence: [
          alertEvidence('platform', facts.alerts[0]!),
          evidence.absence('pods kube-proxy', 'namespace kube-system', 'kubectl get pods -n kube-system -o wide'),
          ...(agents[0] ? [evidence.condition(agents[0], 'Ready')] : []),
        ],
        chain: set ? [link(set, 'replaces kube-proxy')] : [],
        nextSteps: [text('Disable the kube-proxy rules of the monitoring chart (kubeProxy.enabled: false).')],
        deadline: addMinutes(facts.now, 7 * 24 * 60),
      },
    ];
  },
});
