import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { lastWrite } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { lastPerPod, linesLike } from '../../facts/logs/log-search.ts';
import { failedLookups } from '../../facts/network/dns.ts';
import { policyWriter } from '../../facts/network/policies.ts';
import { isTroubled } from '../../facts/pods.ts';
import { selects } from '../../facts/selectors.ts';
import { latest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A packet that a policy drops is never answered; one that reaches a closed port is refused. */
const dropped =
  /i\/o timeout|connect(ion)? timed out|ETIMEDOUT|context deadline exceeded|operation timed out|dial tcp .*timeout|ConnectTimeout/i;
/** A policy as old as that has been lived with. */
const freshMinutes = 6 * 60;

export default rule({
  title: 'A NetworkPolicy that was written shortly before cuts pods off, from DNS or from what they call',
  lookAlikes: [
    'connection refused: something answers',
    'the policy is older than the trouble',
    'pods of other namespaces fail alike: not a policy of this one',
  ],
  judge(facts, scope) {
    const policies = scope.namespaces.flatMap((namespace) => facts.in('NetworkPolicy', namespace));
    return policies.flatMap((policy) => {
      const written = latest(policy.metadata.creationTimestamp, lastWrite(policy)?.time);
      const age = minutesBetween(written, facts.now);
      if (!written || age > freshMinutes) return [];
      const selected = scope.pods.filter(
        (pod) =>
          pod.metadata.namespace === policy.metadata.namespace &&
          selects(policy.spec?.podSelector ?? {}, pod.metadata.labels),
      );
      const egress = (policy.spec?.policyTypes ?? []).includes('Egress');
      const noDns = egress && !allowsDns(policy);
      const lookups = failedLookups(facts).lines.filter(({ log }) =>
        selected.some((pod) => pod.metadata.name === log.pod),
      );
      const timeouts = linesLike(facts, dropped, (log) =>
        selected.some((pod) => pod.metadata.name === log.pod && pod.metadata.namespace === log.namespace),
      );
      const probes = selected.flatMap((pod) =>
        facts.eventsAbout(pod, 'Unhealthy').filter((event) => dropped.test(event.message)),
      );
      const witnessed = lastPerPod([...(noDns ? lookups : []), ...(egress ? timeouts : [])]);
      const inbound = !egress && probes.length > 0;
      if (selected.length === 0 || (witnessed.length === 0 && !inbound)) return [];
      const after = minutesBetween(written, facts.alerts[0]?.startsAt) > -10;
      if (!after) return [];
      const writer = lastWrite(policy)?.manager;
      const owner = policyWriter(facts, policy);
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: noDns ? ('dns' as const) : ('network' as const),
          explains: [
            'application-error' as const,
            'dependency' as const,
            'probe' as const,
            'crash' as const,
            'unknown-symptom' as const,
            'rollout' as const,
            'network' as const,
          ],
          owner,
          boundary: 'network' as const,
          strength: 'derived' as const,
          cause: text(
            `NetworkPolicy ${policy.metadata.namespace}/${policy.metadata.name}${writer ? ` (written by ${writer})` : ''} of ${written} ${noDns ? 'allows no DNS' : 'drops connections'} for ${selected.length} pods of the subject, whose ${noDns ? 'lookups' : 'connections'} time out since.`,
          ),
          root: refOf(policy),
          affects: selected.flatMap((pod) => facts.ownerChain(pod).map(refOf)),
          onset: written,
          evidence: [
            evidence.field(policy, 'spec.policyTypes', policy.spec?.policyTypes),
            evidence.field(
              policy,
              'spec.egress',
              policy.spec?.egress ?? [],
              `created ${policy.metadata.creationTimestamp}`,
            ),
            ...(Object.keys(policy.metadata.labels ?? {}).length > 0
              ? [evidence.field(policy, 'metadata.labels')]
              : []),
            ...witnessed.slice(0, 2).map((entry) => evidence.log(entry.log, entry.line)),
            ...probes.slice(-1).map((event) => evidence.event(event)),
          ],
          chain: [
            link(policy, noDns ? 'no rule for port 53' : 'no rule for these connections'),
            ...selected
              .filter(isTroubled)
              .slice(0, 1)
              .map((pod) => link(pod, 'cut off')),
          ],
          nextSteps: [
            text(
              noDns
                ? 'Allow DNS: an egress rule to kube-system, k8s-app=kube-dns, port 53 UDP and TCP (and node-local DNS where it is used).'
                : `Allow what the pods call, or take the policy back: kubectl -n ${policy.metadata.namespace} get networkpolicy ${policy.metadata.name} -o yaml`,
            ),
          ],
        },
      ];
    });
  },
});

const allowsDns = (policy: KubeObject): boolean =>
  ((policy.spec?.egress ?? []) as any[]).some(
    (entry) =>
      !entry.ports?.length ||
      entry.ports.some(
        (port: any) =>
          String(port.port) === '53' || port.port === 'dns' || (Number(port.port) <= 53 && Number(port.endPort) >= 53),
      ),
  );
