import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { selects } from '../../facts/selectors.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { servedBy } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What ended a pod on purpose: reclaim, consolidation, drift, a drain. */
const takenAway = /^(Evicted|Disrupted|TaintManagerEviction|Preempted|ScaleDown|Killing)$/;
const onPurpose =
  /spot interruption|interrupt|preempt|underutilized|empty|drift|expired|eviction api|evicted pod|deleting pod for node scale down|marking for deletion/i;
/** What users feel of connections that are cut rather than drained. */
const cut = /disconnect|connection|stream|websocket|\bsessions?\b|reset|dropped/i;
/** A grace that was cut below the default turns any eviction into errors. */
const failing = /error|5xx|abort|fail|availab/i;
/** Kubernetes' default; less leaves long connections no time to move. */
const defaultGraceSeconds = 30;

export default rule({
  title:
    'A normal eviction cut connections because the workload does not drain: no preStop, short grace, no disruption budget',
  lookAlikes: [
    'the node vanished without a warning: the interruption handling of the platform',
    'a workload that drains and has a budget: an expected eviction',
  ],
  judge(facts, scope) {
    const words = facts.alerts
      .map((alert) => [...Object.values(alert.labels), ...Object.values(alert.annotations)].join(' '))
      .join(' ');
    if (!cut.test(words) && !failing.test(words)) return [];
    const start = facts.alerts.map((alert) => alert.startsAt).sort()[0] ?? facts.now;
    const evictions = facts.events
      .filter(
        (event) => event.regarding.kind === 'Pod' && takenAway.test(event.reason) && onPurpose.test(event.message),
      )
      .filter((event) => minutesBetween(event.firstAt, start) >= -5 && minutesBetween(event.firstAt, start) <= 30)
      .flatMap((event) => {
        const workload = scope.workloads.find((entry) => belongs(facts, event, entry));
        return workload ? [{ event, workload }] : [];
      });
    return groupBy(evictions, (entry) => nameOf(entry.workload)).flatMap((group) =>
      drainFinding(
        facts,
        scope,
        group[0]!.workload,
        group.map((entry) => entry.event),
        cut.test(words),
      ),
    );
  },
});

/** The evicted pod is of the workload, or, being gone, bears its ReplicaSet's name. */
const belongs = (facts: ClusterFacts, event: KubeEvent, workload: KubeObject): boolean => {
  if (event.regarding.namespace !== workload.metadata.namespace) return false;
  const pod = facts.resolve(event.regarding);
  return pod
    ? facts.workloadOf(pod) === workload
    : facts.childrenOf(workload).some((child) => event.regarding.name.startsWith(`${child.metadata.name}-`)) ||
        event.regarding.name.startsWith(`${workload.metadata.name}-`);
};

const drainFinding = (
  facts: ClusterFacts,
  scope: Scope,
  workload: KubeObject,
  events: KubeEvent[],
  connections: boolean,
): FindingDraft[] => {
  const spec = podSpecOf(workload);
  const labels = workload.spec?.template?.metadata?.labels ?? {};
  const budget = facts
    .in('PodDisruptionBudget', workload.metadata.namespace ?? '')
    .find((entry) => entry.spec?.selector && selects(entry.spec.selector, labels));
  const preStop = (spec.containers ?? []).some((container: any) => container.lifecycle?.preStop);
  const grace = spec.terminationGracePeriodSeconds ?? defaultGraceSeconds;
  const lacks = [
    budget ? '' : 'no PodDisruptionBudget',
    preStop ? '' : 'no preStop hook',
    grace < defaultGraceSeconds ? `only ${grace} s of grace` : '',
  ].filter(Boolean);
  if (lacks.length < 2 || !(connections || grace < defaultGraceSeconds) || !facts.wasRead('poddisruptionbudgets'))
    return [];
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const nodeEvents = facts.events.filter(
    (event) =>
      /^(Node|NodeClaim)$/.test(event.regarding.kind) &&
      /Spot|Interrupt|Disruption/.test(event.reason) &&
      Math.abs(minutesBetween(event.firstAt, events[0]!.firstAt)) < 10,
  );
  const replicas = workload.spec?.replicas ?? 0;
  return [
    {
      mechanism: 'eviction',
      explains: ['node-churn', 'node-removed', 'drain-blocked', 'unknown-symptom', 'application-error', 'dependency'],
      owner,
      boundary: 'config',
      strength: 'derived',
      cause: text(
        `${events.length} of ${replicas} pods of ${nameOf(workload)} were evicted at once (${events[0]!.message.slice(0, 80)}), which is normal; their connections were cut because the workload has ${lacks.join(', ')}.`,
      ),
      root: refOf(workload),
      affects: [
        ...servedBy(facts, workload),
        ...scope.subjects
          .filter((subject) => subject.name)
          .map(
            (subject) =>
              ({ kind: subject.kind, metadata: { name: subject.name!, namespace: subject.namespace } }) as KubeObject,
          ),
      ].map(refOf),
      onset: earliest(...events.map((event) => event.firstAt)),
      evidence: [
        ...events.slice(0, 2).map((event) => evidence.event(event)),
        ...nodeEvents.slice(0, 2).map((event) => evidence.event(event)),
        evidence.field(workload, 'spec.template.spec.terminationGracePeriodSeconds', grace),
        evidence.field(workload, 'spec.template.spec.containers[0].lifecycle', preStop ? 'preStop' : 'absent'),
        ...(budget
          ? []
          : [
              evidence.absence(
                'poddisruptionbudgets',
                `namespace ${workload.metadata.namespace}`,
                `kubectl get poddisruptionbudgets -n ${workload.metadata.namespace}`,
              ),
            ]),
      ],
      chain: [
        link(workload, lacks.join(', ')),
        ...events.slice(0, 2).map((event) => ({
          object: `Pod ${event.regarding.namespace}/${event.regarding.name}`,
          uid: event.regarding.uid,
          claim: 'evicted with its connections',
        })),
      ],
      contributing: [
        {
          owner: 'platform',
          action: text(
            'Keep services with long connections off spot nodes, or spread them so that one reclaim takes one pod.',
          ),
        },
      ],
      nextSteps: [
        text(
          `Give ${nameOf(workload)} a PodDisruptionBudget, a preStop hook that closes connections gradually, and terminationGracePeriodSeconds that fits them.`,
        ),
      ],
    },
  ];
};
