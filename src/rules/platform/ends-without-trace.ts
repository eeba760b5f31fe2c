import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { containerStatuses } from '../../facts/pods.ts';
import { minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A loss longer ago than this says nothing of now. */
const recentMinutes = 6 * 60;

export default rule({
  title: 'Containers or pods ended from outside and nothing that was read says by whom: the class of the symptom only',
  lookAlikes: [
    'ContainerStatusUnknown and exit 255 are written when the node has lost a container: no crash of the application',
    'EvictionByEvictionAPI names no caller: autoscalers, drains and people all use it',
  ],
  judge(facts, scope) {
    return [...lostByNode(facts, scope.pods), ...evictedByCaller(facts, scope.pods)];
  },
});

const lostEnd = (pod: KubeObject) =>
  containerStatuses(pod)
    .map((status) => ({ name: status.name, end: status.state?.terminated ?? status.lastState?.terminated }))
    .find(
      ({ end }) =>
        end?.reason === 'ContainerStatusUnknown' ||
        (end?.reason === 'Unknown' && (end.exitCode === 255 || end.exitCode === 137)),
    );

const lostByNode = (facts: ClusterFacts, pods: KubeObject[]): FindingDraft[] => {
  const lost = pods.filter((pod) => {
    const found = lostEnd(pod);
    return found && !(minutesBetween(found.end?.finishedAt, facts.now) > recentMinutes);
  });
  return groupBy(lost, (pod) => pod.spec?.nodeName ?? '').map((group): FindingDraft => {
    const name: string = group[0]!.spec?.nodeName ?? 'an unknown node';
    const all = facts.podsOn(name).filter((pod) => lostEnd(pod));
    const spaces = new Set(all.map((pod) => pod.metadata.namespace));
    const node = facts.find('Node', name);
    return finding(facts, group, {
      boundary: 'node',
      root: node ?? group[0]!,
      says: `the node ${name} lost ${all.length} containers of ${spaces.size} namespace${spaces.size === 1 ? '' : 's'} (ContainerStatusUnknown, exit ${lostEnd(group[0]!)!.end?.exitCode}): the host was restarted, its runtime was, or somebody worked on it`,
      evidence: (cited, pod) => {
        const { name: container, end } = lostEnd(pod)!;
        return cited.field(
          pod,
          `status.containerStatuses[${container}].lastState.terminated`,
          `${end!.reason}, exit ${end!.exitCode} at ${end!.finishedAt}`,
          end!.message ?? '',
        );
      },
      missing: `what happened on node ${name} at that time`,
      fix: `kubectl events --for node/${name}; its boot id and uptime; journalctl -u kubelet -u containerd on the host`,
    });
  });
};

const evictedByCaller = (facts: ClusterFacts, pods: KubeObject[]): FindingDraft[] => {
  const evicted = pods.filter(
    (pod) =>
      condition(pod, 'DisruptionTarget')?.reason === 'EvictionByEvictionAPI' &&
      !(minutesBetween(condition(pod, 'DisruptionTarget')?.lastTransitionTime, facts.now) > recentMinutes) &&
      !facts.eventsAbout(pod).some((event) => /^(Evicted|Disrupted|ScaleDown)$/.test(event.reason)),
  );
  return groupBy(evicted, (pod) => nameOf(facts.workloadOf(pod))).map(
    (group): FindingDraft =>
      finding(facts, group, {
        boundary: null,
        root: facts.workloadOf(group[0]!),
        says: `${group.length} pods were evicted through the eviction API (EvictionByEvictionAPI), which names no caller`,
        evidence: (cited, pod) => cited.condition(pod, 'DisruptionTarget'),
        missing: 'who called the eviction',
        fix: `the audit log: verb create, resource pods/eviction, namespace ${group[0]!.metadata.namespace}; events of the pods and their nodes`,
      }),
  );
};

interface Trace {
  boundary: Boundary | null;
  root: KubeObject;
  says: string;
  evidence(cited: ReturnType<typeof cite>, pod: KubeObject): FindingDraft['evidence'][number];
  missing: string;
  fix: string;
}

const finding = (facts: ClusterFacts, pods: KubeObject[], trace: Trace): FindingDraft => {
  const workload = facts.workloadOf(pods[0]!);
  const evidence = cite('platform', facts);
  return {
    mechanism: 'unknown-symptom',
    explains: [],
    owner: 'undetermined',
    boundary: trace.boundary,
    strength: 'derived',
    cause: text(`${nameOf(workload)}: ${trace.says}; what or who did it is not in what was read.`),
    root: refOf(trace.root),
    affects: [workload, ...pods].map(refOf),
    evidence: pods.slice(0, 3).map((pod) => trace.evidence(evidence, pod)),
    chain: [link(trace.root, trace.says), ...pods.slice(0, 2).map((pod) => link(pod, 'ended from outside'))],
    nextSteps: [text(trace.fix)],
    missing: [{ layer: 'platform', missing: trace.missing, fix: trace.fix }],
  };
};
