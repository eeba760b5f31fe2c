import type { Evidence } from '../../domain/evidence.ts';
import type { Mechanism } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import {
  foreignMetrics,
  hpaOf,
  type ReplicaGrowth,
  reachOf,
  replicaGrowth,
  trafficGrowth,
} from '../../facts/capacity/growth.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { type Cite, cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isUnscheduled } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { firstValue, growth as growthOf, lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { type StuckConsumer, stuckConsumer } from '../../facts/workloads/consumers.ts';
import { climbingWorkloads } from '../../facts/workloads/memory.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Growth by less than this is what autoscaling is for. */
const surgeFactor = 2.5;
const surgePods = 6;
const realLoad = 1.5;
const follows: Mechanism[] = [
  'pending',
  'scheduling',
  'node-pressure',
  'eviction',
  'load',
  'pool-limit',
  'autoscaler-growth',
  'node-churn',
  'quota',
  'throttling',
  'probe',
  'address-exhaustion',
  'unknown-symptom',
  'scaling-limit',
];

export default rule({
  title:
    'The replicas of one workload multiplied and press on nodes and pools: by hand, by load, or by a metric nobody can explain',
  lookAlikes: [
    'nodes grew while replicas did not: the pool changed, not the application',
    'an external metric drives the growth: demand, a stuck consumer and a wrong metric look alike from outside; the consumer’s own log and rates tell them apart',
    'a memory leak behind a memory HPA: a rule of its own',
  ],
  judge(facts, scope) {
    const leaking = new Set(climbingWorkloads(facts).map((entry) => entry.workload));
    return candidates(facts, scope)
      .filter((workload) => !leaking.has(workload))
      .flatMap((workload): FindingDraft[] => {
        const growth = replicaGrowth(facts, workload);
        if (!growth || growth.to < surgeFactor * growth.from || growth.to - growth.from < surgePods) return [];
        return [surgeFinding(facts, workload, growth)];
      });
  },
});

/** Workloads of the scope; for a node, a pool or the cluster as subject, all that press on it. */
const candidates = (facts: ClusterFacts, scope: Scope): KubeObject[] => {
  const broad = scope.wide || scope.subjectNodes.length > 0 || scope.pools.length > 0;
  const all = broad ? [...facts.all('Deployment'), ...facts.all('StatefulSet')] : [];
  return [...new Set([...scope.workloads, ...all])];
};

interface Driver {
  owner: Owner;
  words: string;
  strength: 'direct' | 'derived' | 'circumstantial';
  boundary: 'traffic' | 'application' | 'autoscaling';
  step: string;
  missing?: FindingDraft['missing'];
  stuck?: StuckConsumer;
}

const surgeFinding = (facts: ClusterFacts, workload: KubeObject, growth: ReplicaGrowth): FindingDraft => {
  const pods = facts.podsOf(workload);
  const waiting = pods.filter(isUnscheduled).length;
  const hpa = hpaOf(facts, workload);
  const onset = earliest(...growth.events.map((event) => event.firstAt)) ?? facts.now;
  const rollout = rolloutBefore(facts, workload, onset, 6 * 60);
  const changes = rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [];
  const driver = driverOf(facts, workload, hpa, growth, changes);
  const evidence = cite(driver.owner === 'undetermined' ? 'app' : driver.owner, facts);
  const writer = lastWriter(workload, 'f:replicas');
  const cpu = facts.series('namespace:container_cpu_usage:sum_rate5m', {
    namespace: workload.metadata.namespace ?? '',
  })[0];
  const churn = facts.events.filter(
    (event) =>
      /^(RemoveDuplicates|LowNodeUtilization|Descheduled|HighNodeUtilization)/.test(event.reason) &&
      pods.length > 0 &&
      event.regarding.namespace === workload.metadata.namespace,
  );
  return {
    mechanism: 'load',
    explains: follows,
    owner: driver.owner,
    boundary: driver.boundary,
    strength: driver.strength,
    cause: text(
      `${nameOf(workload)} went from ${growth.from} to ${growth.to} replicas ${driver.words}${rollout ? `, after the rollout at ${rollout.at}${changes[0] ? ` (${changes.slice(0, 2).join('; ')})` : ''}` : ''}${waiting ? `; ${waiting} of them find no node` : ''}${cpu && growthOf(cpu) > realLoad ? `; its namespace's CPU use went from ${firstValue(cpu).toFixed(1)} to ${lastValue(cpu).toFixed(1)} cores` : ''}.`,
    ),
    root: refOf(workload),
    affects: reachOf(facts, workload, pods).map(refOf),
    onset: rollout?.at ?? onset,
    evidence: [
      ...growth.events.slice(-3).map((event) => evidence.event(event)),
      ...(growth.series ? [evidence.series(growth.series, `replicas ${growth.from} to ${growth.to}`)] : []),
      ...(writer && !hpa
        ? [
            evidence.field(
              workload,
              'metadata.managedFields',
              `spec.replicas last written by ${writer.manager} at ${writer.time}`,
            ),
          ]
        : []),
      ...(driver.stuck ? stuckEvidence(evidence, driver.stuck) : []),
      ...(hpa ? [evidence.field(hpa, 'spec.metrics'), evidence.field(hpa, 'status.currentMetrics')] : []),
      ...(rollout
        ? [evidence.field(rollout.current, 'spec.template.spec.containers[0].image', undefined, changes.join('; '))]
        : []),
      ...(cpu ? [evidence.series(cpu, `cores ${firstValue(cpu).toFixed(1)} to ${lastValue(cpu).toFixed(1)}`)] : []),
      ...churn.slice(-1).map((event) => evidence.event(event)),
    ],
    chain: [
      ...(hpa ? [link(hpa, `asks for ${growth.to} replicas`)] : []),
      link(workload, `${growth.from} to ${growth.to} replicas`),
      ...pods
        .filter(isUnscheduled)
        .slice(0, 2)
        .map((pod) => link(pod, 'finds no node')),
    ],
    contributing:
      churn.length > 0
        ? [
            {
              owner: 'platform',
              action: text('Keep the descheduler from evicting surplus replicas of a saturated workload.'),
            },
          ]
        : [],
    nextSteps: [text(driver.step)],
    missing: driver.missing ?? [],
  };
};

const stuckEvidence = (evidence: Cite, { line, finished, arriving }: StuckConsumer): Evidence[] => [
  evidence.log(line.log, line.text),
  ...[finished, arriving].flatMap((series) =>
    series ? [evidence.series(series, `${firstValue(series)} to ${lastValue(series)} a second`)] : [],
  ),
];

const driverOf = (
  facts: ClusterFacts,
  workload: KubeObject,
  hpa: KubeObject | undefined,
  growth: ReplicaGrowth,
  changes: string[],
): Driver => {
  const owner = ownershipOf(facts, workload);
  const scale = `kubectl scale ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace} --replicas=${growth.from}`;
  if (!hpa) {
    const writer = lastWriter(workload, 'f:replicas')?.manager;
    return {
      owner,
      words: writer ? `by hand or pipeline (${writer})` : 'without an autoscaler',
      strength: 'direct',
      boundary: 'traffic',
      step: `Scale back to what the cluster holds (${scale}) and find why more replicas were thought to be needed.`,
    };
  }
  const foreign = foreignMetrics(hpa);
  const traffic = trafficGrowth(facts, workload);
  const signal = foreign.map((name) => facts.seriesLike(new RegExp(name.replace(/\W/g, '.')))[0]).find(Boolean);
  const stuck = foreign.length > 0 ? stuckConsumer(facts, workload) : undefined;
  if (stuck && (changes.length > 0 || stuck.finished))
    return {
      owner,
      words: `because its autoscaler follows ${foreign.join(', ')}${signal ? ` (now ${lastValue(signal)})` : ''} and it cannot take its messages: “${stuck.line.text.slice(0, 160)}”${stuck.finished ? `; ${stuck.finished.name} fell from ${firstValue(stuck.finished)} to ${lastValue(stuck.finished)}${stuck.arriving ? ` while ${stuck.arriving.name} stayed at ${lastValue(stuck.arriving)}` : ''}` : ''}`,
      strength: stuck.finished && stuck.arriving && changes.length > 0 ? 'direct' : 'derived',
      boundary: 'application',
      step: `${changes.length > 0 ? `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}, or put` : 'Put'} the messages it cannot read aside; more replicas do not help.`,
      stuck,
    };
  if (foreign.length > 0 && !(traffic && traffic.factor > realLoad))
    return {
      owner: 'undetermined',
      words: `because its autoscaler follows ${foreign.join(', ')}${signal ? ` (now ${lastValue(signal)})` : ''}; whether that is demand, a stuck consumer or a wrong metric is not in what was read`,
      strength: 'derived',
      boundary: 'autoscaling',
      step: `Cap it for now (kubectl patch hpa ${hpa.metadata.name} -n ${hpa.metadata.namespace} --type merge -p '{"spec":{"maxReplicas":${growth.to}}}') and read the history of ${foreign[0]}.`,
      missing: [
        {
          layer: 'app',
          missing: `history of ${foreign[0]} and throughput of the consumers`,
          fix: `query ${foreign[0]} and the processed-messages rate over the last 24 h`,
        },
        {
          layer: 'app',
          missing: `who changed the autoscaler or the release`,
          fix: `kubectl get hpa ${hpa.metadata.name} -n ${hpa.metadata.namespace} -o yaml --show-managed-fields; kubectl rollout history ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
        },
      ],
    };
  if (traffic && traffic.factor > realLoad)
    return {
      owner,
      words: `because its requests grew ${traffic.factor.toFixed(1)}-fold and its autoscaler follows`,
      strength: 'derived',
      boundary: 'traffic',
      step: 'Find where the requests come from; limit the callers or plan the capacity.',
    };
  if (traffic && changes.length > 0)
    return {
      owner,
      words: 'at flat traffic, since each replica needs more',
      strength: 'derived',
      boundary: 'application',
      step: `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}, then profile what the release made dearer.`,
    };
  return {
    owner: changes.length > 0 ? owner : 'undetermined',
    words: 'because its autoscaler asked for them',
    strength: changes.length > 0 ? 'circumstantial' : 'derived',
    boundary: 'autoscaling',
    step: `kubectl describe hpa ${hpa.metadata.name} -n ${hpa.metadata.namespace}; compare requests per second with the growth.`,
    missing: [
      {
        layer: 'app',
        missing: 'requests per second of the workload',
        fix: 'query its request rate over the last 24 h',
      },
    ],
  };
};
