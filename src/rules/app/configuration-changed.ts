import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { authorOf, lastChangeOf } from '../../facts/changes/last-change.ts';
import { troubledSince } from '../../facts/changes/trouble-since.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { referencesOf } from '../../facts/workloads/references.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { lastWriter, sharesWord, speaksOfPlatform } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A mounted file follows its ConfigMap within about two minutes; programs read it at their next start or reload. */
const actsWithinMinutes = 120;
/** Nearness in time alone speaks only where it is near. */
const nearMinutes = 30;
const slackMinutes = 2;
const aboutConfiguration =
  /config|setting|propert|environment|\benv\b|pars(?:e|ing)|unmarshal|yaml|json|toml|\bini\b|invalid|unknown (?:field|key|option)|missing|required|reload/i;

export default rule({
  title: 'A ConfigMap that the pods use was changed, without a rollout, and the pods that read it since then fail',
  lookAlikes: [
    'a rollout after the change: the release is what brought it',
    'trouble that began before the change',
    'a ConfigMap that the pods do not use',
  ],
  judge(facts, scope) {
    const troubled = scope.troubledPods.filter((pod) => !isReady(pod) || troubledSince(facts, pod) !== undefined);
    return groupBy(troubled, (pod) => nameOf(facts.workloadOf(pod))).flatMap((pods) => {
      const workload = facts.workloadOf(pods[0]!);
      return [workload, ...pods.slice(0, 1)]
        .flatMap(referencesOf)
        .filter(
          (ref, index, all) => all.findIndex(({ kind, name }) => kind === ref.kind && name === ref.name) === index,
        )
        .filter(({ kind }) => kind === 'ConfigMap')
        .flatMap(({ name, namespace }) => facts.find('ConfigMap', name, namespace) ?? [])
        .flatMap((map) => configurationFinding(facts, workload, pods, map));
    });
  },
});

const configurationFinding = (
  facts: ClusterFacts,
  workload: KubeObject,
  pods: KubeObject[],
  map: KubeObject,
): FindingDraft[] => {
  const change = lastChangeOf(facts, map);
  // What was made with the pods, or before them, is no change to them.
  if (!change?.write || change.at <= (map.metadata.creationTimestamp ?? '')) return [];
  const since = earliest(facts.alerts[0]?.startsAt, ...pods.map((pod) => troubledSince(facts, pod))) ?? facts.now;
  const minutes = minutesBetween(change.at, since);
  const rollout = rolloutOf(facts, workload);
  const isReleased = rollout !== undefined && minutesBetween(rollout.at, since) < actsWithinMinutes;
  if (minutes < -slackMinutes || minutes > actsWithinMinutes || isReleased) return [];
  const [line] = complaints(facts, pods, map, change.at);
  const startedBefore = facts.podsOf(workload).filter((pod) => isReady(pod) && startOf(pod) < change.at);
  const startedAfter = pods.filter((pod) => startOf(pod) >= change.at);
  const splits = startedBefore.length > 0 && startedAfter.length === pods.length;
  const strength: Strength = line?.names ? 'direct' : line || splits ? 'derived' : 'circumstantial';
  if (strength === 'circumstantial' && minutes > nearMinutes) return [];
  const owner = ownerOf(facts, workload, map);
  const evidence = cite(owner, facts);
  const keys = changedKeys(map);
  const author = authorOf(change);
  return [
    {
      mechanism: 'rollout',
      explains: ['crash', 'probe', 'application-error', 'dependency', 'config-missing', 'rollout', 'unknown-symptom'],
      owner,
      boundary: 'config',
      strength,
      cause: text(
        `${nameOf(map)}, which ${nameOf(workload)} uses, was changed at ${change.at}${author ? ` ${author}` : ''}, ${duration(Math.max(0, minutes))} before the trouble and without a rollout${line ? `; since then it says "${line.text.slice(0, 160)}"` : ''}${splits ? `; ${startedBefore.length} pods that started before it are ready` : ''}.`,
      ),
      root: refOf(map),
      affects: [workload, ...pods].map(refOf),
      onset: change.at,
      evidence: [
        {
          ...evidence.field(map, 'metadata.managedFields', change.write, `keys ${keys.join(', ') || 'unknown'}`),
          at: change.at,
        },
        ...(line ? [evidence.log(line.log, line.text)] : []),
        ...(rollout
          ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, 'no rollout since')]
          : []),
        ...pods.slice(0, 2).map((pod) => evidence.condition(pod, 'Ready')),
        ...startedBefore.slice(0, 1).map((pod) => evidence.field(pod, 'status.startTime', startOf(pod), 'ready')),
      ],
      chain: [
        link(map, `changed at ${change.at}`),
        link(workload, 'reads it'),
        ...pods.slice(0, 2).map((pod) => link(pod, 'fails since')),
      ],
      nextSteps: [
        text(
          change.undo
            ? `Take the change back: ${change.undo}; then kubectl rollout restart ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`
            : `Compare with the former text and put it back: kubectl get configmap ${map.metadata.name} -n ${map.metadata.namespace} -o yaml --show-managed-fields; then kubectl rollout restart ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
        ),
      ],
    },
  ];
};

/** When the pod's present run began: a restarted container has read its configuration anew. */
const startOf = (pod: KubeObject): string =>
  (pod.status?.containerStatuses ?? [])
    .map((status: any) => status.state?.running?.startedAt ?? status.lastState?.terminated?.startedAt ?? '')
    .sort()
    .at(-1) ||
  (pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '');

/** What the pods say about configuration since the change; best where it names the map or one of its keys. */
const complaints = (
  facts: ClusterFacts,
  pods: KubeObject[],
  map: KubeObject,
  at: string,
): (PodLogLine & { names: boolean })[] => {
  const words = [map.metadata.name, ...Object.keys({ ...map.data, ...map.binaryData })].filter(
    (word) => word.length > 3,
  );
  return grep(facts, pods, /error|fatal|fail|invalid|cannot|unable|exception|panic/i)
    .filter((line) => !line.at || line.at >= at)
    .map((line) => ({ ...line, names: words.some((word) => line.text.includes(word)) }))
    .filter((line) => line.names || aboutConfiguration.test(line.text))
    .sort((a, b) => Number(b.names) - Number(a.names));
};

const changedKeys = (map: KubeObject): string[] => {
  const fields: any = lastWriter(map, 'f:data')?.fieldsV1?.['f:data'] ?? {};
  const keys = Object.keys(fields)
    .filter((key) => key.startsWith('f:'))
    .map((key) => key.slice(2));
  return keys.length > 0 ? keys : Object.keys({ ...map.data, ...map.binaryData });
};

/** Its namespace's owner, unless a tool of the platform wrote it. */
const ownerOf = (facts: ClusterFacts, workload: KubeObject, map: KubeObject): 'platform' | 'app' => {
  const writer = lastWriter(map, 'f:data')?.manager;
  const isOwn = sharesWord(writer, map.metadata.namespace) || sharesWord(writer, workload.metadata.name);
  return speaksOfPlatform(writer) && !isOwn ? 'platform' : ownershipOf(facts, map);
};
