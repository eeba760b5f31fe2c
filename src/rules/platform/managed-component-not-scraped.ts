import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { leaseAgeMinutes } from '../../facts/nodes/nodes.ts';
import { isManaged } from '../../facts/provider.ts';
import { addMinutes, duration } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const absent =
  /^(KubeScheduler|KubeControllerManager|Etcd|KubeEtcd|etcd)(Down|InstanceUnreachable|InsufficientMembers|MembersDown)$/i;
/** A leader renews its lease every 2 s and loses it after 15 s: a minute is generous. */
const freshMinutes = 1;

export default rule({
  title: 'KubeSchedulerDown and the like on a managed control plane that offers no scrape target',
  lookAlikes: ['the leader lease is stale: the component really is gone'],
  judge(facts) {
    const alerts = facts.alerts.filter((alert) => absent.test(alert.labels.alertname ?? ''));
    if (alerts.length === 0 || alerts.length < facts.alerts.length) return [];
    const leases = ['kube-scheduler', 'kube-controller-manager']
      .map((name) => facts.find('Lease', name, 'kube-system'))
      .filter((lease) => lease !== undefined);
    const ready = facts.probe('readyz');
    if (leases.some((lease) => leaseAgeMinutes(facts, lease) > freshMinutes) || (ready && ready.status !== 200))
      return [];
    const managed = isManaged(facts);
    if (!managed && leases.length === 0) return [];
    const evidence = cite('cloud', facts);
    const oldest = Math.max(...leases.map((lease) => leaseAgeMinutes(facts, lease)));
    const proof =
      leases.length > 0
        ? `${leases.map((lease) => lease.metadata.name).join(' and ')} renewed their leases ${duration(oldest)} ago, so they work`
        : 'the API server is ready and nothing shows that they are gone';
    return [
      {
        mechanism: 'heartbeat',
        explains: ['control-plane', 'controller-down', 'etcd', 'unknown-symptom', 'pending', 'node-churn'],
        state: managed ? 'expected' : 'fault',
        owner: 'platform',
        boundary: managed ? 'control-plane' : 'config',
        strength: leases.length > 0 ? (managed ? 'direct' : 'derived') : 'circumstantial',
        cause: text(
          `${[...new Set(alerts.map((alert) => alert.labels.alertname))].join(' and ')}: ${managed ? 'a managed control plane offers no such scrape target' : 'Prometheus has no target for it, which is a matter of scraping'}; ${proof}.`,
        ),
        root: leases[0] ? refOf(leases[0]) : { kind: 'Alert', name: alerts[0]!.labels.alertname ?? '' },
        affects: 'cluster',
        onset: alerts[0]!.startsAt,
        evidence: [
          ...leases.flatMap((lease) => [
            evidence.field(lease, 'spec.renewTime'),
            evidence.field(lease, 'spec.holderIdentity'),
          ]),
          ...(ready ? [evidence.probe(ready)] : []),
          alertEvidence('platform', alerts[0]!),
        ],
        nextSteps: [
          text(
            !managed
              ? 'Let it be scraped: --bind-address of the static pod, the Service and ServiceMonitor of kube-system.'
              : 'Switch these rules off for this cluster (kube-prometheus-stack: kubeScheduler.enabled=false, kubeControllerManager.enabled=false, kubeEtcd.enabled=false).',
          ),
        ],
        deadline: managed ? addMinutes(facts.now, 24 * 60) : undefined,
      },
    ];
  },
});
