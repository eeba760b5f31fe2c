import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { lastPerPod, linesLike } from '../../facts/logs/log-search.ts';
import { dnsPods, dnsVictims, failedLookups, isDnsAlert } from '../../facts/network/dns.ts';
import {
  isReady,
  isTerminating,
  isUnscheduled,
  restarts,
  terminations,
  unschedulableMessage,
  waitingReason,
} from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'Cluster DNS runs short of replicas: they cannot be placed, get no address, crash or run out of memory',
  lookAlikes: [
    'lookups of one name fail while others work',
    'the nodes under DNS are gone: those come first',
    'DNS is complete and slow: load or its upstream',
  ],
  judge(facts, scope) {
    const pods = dnsPods(facts).filter((pod) => !isTerminating(pod));
    const unready = pods.filter((pod) => !isReady(pod));
    const victims = failedLookups(facts);
    const touched = isDnsAlert(facts) || victims.pods.length > 0 || scope.pods.some((pod) => unready.includes(pod));
    // A resolver that forwards to itself has lost its node's nameservers: the node comes first.
    const looping = linesLike(facts, /plugin\/loop: Loop .*detected/).length > 0;
    if (unready.length === 0 || !touched || looping) return [];
    const sets = [...new Set(pods.map((pod) => facts.workloadOf(pod)))].filter((set) => set.kind === 'Deployment');
    const double = sets.length > 1;
    const evidence = cite('platform', facts);
    const unplaced = unready.filter(isUnscheduled);
    const events = unready.flatMap((pod) =>
      facts
        .eventsAbout(pod)
        .filter((event) => event.type === 'Warning')
        .slice(-1),
    );
    const oom = unready.some((pod) => terminations(pod).some((end) => end.terminated.reason === 'OOMKilled'));
    const why = double
      ? `${sets.length} installations (${sets.map((set) => `${set.metadata.name} with ${set.spec?.replicas}`).join(', ')}) crowd the nodes that DNS may run on`
      : oom
        ? 'its containers run out of memory'
        : unplaced.length > 0
          ? `no node takes them (${unschedulableMessage(unplaced[0]!).slice(0, 140)})`
          : `they are not ready (${describe(unready[0]!)})`;
    const share = unready.length / pods.length;
    return [
      {
        mechanism: 'dns',
        explains: [
          'sandbox-network',
          'address-exhaustion',
          'scheduling',
          'pending',
          'dependency',
          'application-error',
          'unknown-symptom',
          'crash',
          'probe',
          'oom',
          'pool-mismatch',
          'image-pull',
          'load',
        ],
        owner: 'platform',
        boundary: 'dns',
        strength:
          double || ((oom || unplaced.length > 0) && share >= 0.5)
            ? events.length > 0
              ? 'direct'
              : 'derived'
            : 'circumstantial',
        cause: text(`${unready.length} of ${pods.length} cluster DNS replicas do not serve: ${why}.`),
        root: refOf(facts.workloadOf(unready[0]!)),
        affects: dnsVictims(facts, scope),
        onset: earliest(
          ...unready.map((pod) => pod.metadata.creationTimestamp),
          ...events.map((event) => event.firstAt),
        ),
        evidence: [
          ...sets
            .slice(0, 3)
            .map((set) =>
              evidence.field(
                set,
                'spec.replicas',
                set.spec?.replicas,
                `${set.status?.readyReplicas ?? 0} ready; nodeSelector ${JSON.stringify(set.spec?.template?.spec?.nodeSelector ?? {})}`,
              ),
            ),
          ...distinct(events).map((event) => evidence.event(event)),
          ...unplaced.slice(0, 1).map((pod) => evidence.condition(pod, 'PodScheduled')),
          ...lastPerPod(victims.lines)
            .slice(0, 2)
            .map((entry) => evidence.log(entry.log, entry.line)),
        ],
        chain: [
          ...sets
            .slice(0, 2)
            .map((set) => link(set, `${set.status?.readyReplicas ?? 0} of ${set.spec?.replicas} ready`)),
          ...victims.pods.slice(0, 1).map((pod) => link(pod, 'lookups fail')),
        ],
        nextSteps: [
          text(
            double
              ? `Keep one installation: remove ${sets.slice().sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))[0]!.metadata.name} (the younger), or give each its own nodes.`
              : 'Give cluster DNS room: kubectl -n kube-system describe pods -l k8s-app=kube-dns',
          ),
        ],
      },
    ];
  },
});

const describe = (pod: KubeObject): string => waitingReason(pod) ?? `${restarts(pod)} restarts`;

const distinct = <T extends { reason: string; message: string }>(events: T[]): T[] =>
  [...new Map(events.map((event) => [`${event.reason} ${event.message.slice(0, 40)}`, event])).values()].slice(0, 3);
