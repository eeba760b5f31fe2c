import type { Evidence } from '../../domain/evidence.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { type Cite, cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { imagePlatformOf } from '../../facts/nodes/new-kind.ts';
import { softwareOf } from '../../facts/nodes/nodes.ts';
import { earliest } from '../../facts/time.ts';
import { type FailedPull, failedPulls } from '../../facts/workloads/image-pulls.ts';
import { containerPath, rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { judgePull, type Spread } from '../pull-verdict.ts';

export default rule({
  title: "An image cannot be pulled; the registry's answer and the spread of the failure say whose matter it is",
  lookAlikes: [
    '429 with the text of the pull rate limit, of failed logins, or during an outage of the registry: three causes',
    '403 for one workload with a pull secret of its own, or for all of a node role',
    'a tag that never existed, or one that was deleted after pods had run with it',
  ],
  judge(facts, scope) {
    const all = failedPulls(facts, facts.all('Pod'));
    const own = all.filter((pull) => scope.has(refOf(pull.pod)) && (!scope.wide || all.length >= 3));
    return groupBy(own, (pull) => `${pull.fault}/${pull.host}`).map((group) => {
      const alike = all.filter((pull) => pull.fault === group[0]!.fault && pull.host === group[0]!.host);
      return pullFinding(facts, group, alike, all);
    });
  },
});

const pullFinding = (
  facts: ClusterFacts,
  group: FailedPull[],
  alike: FailedPull[],
  all: FailedPull[],
): FindingDraft => {
  const pull = group[0]!;
  const workload = facts.workloadOf(pull.pod);
  const spread: Spread = {
    namespaces: new Set(alike.map((entry) => entry.pod.metadata.namespace)).size,
    workloads: new Set(alike.map((entry) => nameOf(facts.workloadOf(entry.pod)))).size,
    nodes: new Set(alike.map((entry) => entry.pod.spec?.nodeName)).size,
  };
  const judged = judgePull(facts, pull, spread, all);
  const evidence = cite(judged.owner === 'undetermined' ? 'platform' : judged.owner, facts);
  const rollout = rolloutOf(facts, workload);
  return {
    mechanism: 'image-pull',
    explains: ['rollout', 'crash', 'job', 'application-error', 'unknown-symptom'],
    owner: judged.owner,
    boundary: judged.boundary,
    strength: judged.strength,
    cause: text(
      `Image ${pull.image} of ${nameOf(workload)} cannot be pulled from ${pull.host}: ${judged.because} (${spread.workloads} workloads in ${spread.namespaces} namespaces on ${spread.nodes} nodes fail alike).`,
    ),
    root: refOf(workload),
    affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
    onset: earliest(...group.map((entry) => entry.event?.firstAt ?? entry.pod.metadata.creationTimestamp)),
    evidence: [
      ...alike
        .slice(0, 3)
        .map((entry) =>
          entry.event
            ? evidence.event(entry.event)
            : evidence.field(
                entry.pod,
                `status.containerStatuses[${entry.container}].state.waiting`,
                'image not pulled',
                entry.text,
              ),
        ),
      evidence.field(
        pull.pod,
        `status.containerStatuses[${pull.container}].state.waiting.message`,
        'image not pulled',
        pull.text,
      ),
      evidence.field(pull.pod, containerPath(pull.pod, pull.container, 'image'), pull.image),
      evidence.field(pull.pod, 'spec.imagePullSecrets', JSON.stringify(pull.pod.spec?.imagePullSecrets ?? 'none')),
      ...(judged.boundary === 'node' ? citePlatform(facts, evidence, pull.pod) : []),
      ...(rollout ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at)] : []),
    ],
    chain: [
      link(workload, `needs ${pull.image}`),
      ...group.slice(0, 3).map((entry) => link(entry.pod, 'waits for its image')),
    ],
    contributing: judged.contributing ?? [],
    nextSteps: [
      text(judged.step),
      text(
        `crictl pull ${pull.image} on node ${pull.pod.spec?.nodeName}; kubectl describe pod ${pull.pod.metadata.name} -n ${pull.pod.metadata.namespace}`,
      ),
    ],
    missing: judged.missing ?? [],
  };
};

const citePlatform = (facts: ClusterFacts, evidence: Cite, pod: KubeObject): Evidence[] => {
  const node = facts.nodeOf(pod);
  return node
    ? [
        evidence.field(
          node,
          'status.nodeInfo',
          imagePlatformOf(node),
          `${softwareOf(node).os}, kernel ${softwareOf(node).kernel}`,
        ),
      ]
    : [];
};
