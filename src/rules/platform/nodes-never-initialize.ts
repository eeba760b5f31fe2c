import type { Evidence } from '../../domain/evidence.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { poolOf, waitingFor } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { type Cite, cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { isReady, waitingReason } from '../../facts/pods.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Registration to initialisation takes seconds to two minutes; agents that pull large images a little longer. */
const initializeMinutes = 6;
const reasons = /^(StartupTaintsExist|KnownEphemeralTaintsExist|ResourceNotRegistered|DRADriverPoolsNotPublished)$/;

export default rule({
  title: 'A node has joined and is never handed to pods: a startup taint stays, or a device never registers',
  lookAlikes: [
    'a node that is minutes old',
    'a NotReady node: its kubelet says why',
    'tolerating the taint in the app, which would only hide it',
  ],
  judge(facts) {
    return facts.all('NodeClaim').flatMap((claim) => {
      const entry = condition(claim, 'Initialized');
      if (!isTrue(claim, 'Registered') || !entry || entry.status === 'True' || !reasons.test(entry.reason ?? ''))
        return [];
      const age = minutesBetween(
        condition(claim, 'Registered')?.lastTransitionTime ?? claim.metadata.creationTimestamp,
        facts.now,
      );
      if (age < initializeMinutes) return [];
      const pool = poolOf(facts, claim);
      const node = facts.find('Node', claim.status?.nodeName);
      const waiting = pool ? waitingFor(facts, pool) : [];
      const evidence = cite('platform', facts);
      const key = /(?<![\w.-])([\w.-]+\/[\w.-]+)/.exec(entry.message ?? '')?.[1] ?? '';
      const agent = agentOf(facts, claim, key);
      const story = agent ? agentStory(facts, agent, key, evidence) : undefined;
      return [
        {
          mechanism: 'node-not-initialized' as const,
          explains: [
            'pending' as const,
            'scheduling' as const,
            'rollout' as const,
            'unknown-symptom' as const,
            'pool-limit' as const,
          ],
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: 'direct' as const,
          cause: text(
            `Node ${claim.status?.nodeName ?? claim.metadata.name} joined ${duration(age)} ago and is not handed to pods: ${entry.message || entry.reason}${story ? `; ${story.says}` : ''}; ${waiting.length} pods wait.`,
          ),
          root: refOf(claim),
          affects: [
            ...waiting.map(refOf),
            refOf(claim),
            ...(node ? [refOf(node)] : []),
            ...(pool ? [refOf(pool)] : []),
          ],
          onset: condition(claim, 'Registered')?.lastTransitionTime,
          evidence: [
            evidence.condition(claim, 'Initialized'),
            ...(node ? [evidence.field(node, 'spec.taints')] : []),
            ...(story?.evidence ?? []),
            ...(pool ? [evidence.field(pool, 'spec.template.spec.startupTaints')] : []),
          ],
          chain: [
            ...(agent ? [link(agent, story!.says)] : []),
            link(claim, entry.message || (entry.reason ?? 'not initialised')),
            ...waiting.slice(0, 2).map((pod) => link(pod, 'cannot use the node')),
          ],
          nextSteps: [
            text(
              entry.reason === 'ResourceNotRegistered'
                ? `Look at the device plugin on node ${claim.status?.nodeName}: it never registered ${key}.`
                : `Restart the agent that takes the taint off on that node, or remove it by hand: kubectl taint node ${claim.status?.nodeName} ${key}-`,
            ),
          ],
        },
      ];
    });
  },
});

/** The agent on the node whose name the taint or resource carries: `efs.csi.aws.com/…` → efs-csi-node. */
const agentOf = (facts: ClusterFacts, claim: KubeObject, key: string): KubeObject | undefined => {
  const words = key
    .split(/[./-]/)
    .filter((word) => word.length > 2 && !/^(com|aws|not|ready|agent|node|csi|io|sigs|k8s|startup|taint)$/.test(word));
  return facts
    .podsOn(claim.status?.nodeName ?? '')
    .filter((pod) => facts.ownerOf(pod)?.kind === 'DaemonSet')
    .find((pod) => words.some((word) => pod.metadata.name.includes(word)));
};

const agentStory = (
  facts: ClusterFacts,
  agent: KubeObject,
  key: string,
  evidence: Cite,
): { says: string; evidence: Evidence[] } => {
  const removal = facts
    .logsOf(agent)
    .flatMap((log) => log.text.split('\n').map((line) => ({ log, line })))
    .find(({ line }) => /removed taint/i.test(line) && line.includes(key));
  if (removal)
    return {
      says: `its agent ${agent.metadata.name} took the taint off once, before the node was registered, and it was put back`,
      evidence: [evidence.log(removal.log, removal.line), evidence.condition(agent, 'Ready')],
    };
  const broken = !isReady(agent);
  return {
    says: `its agent ${agent.metadata.name} ${broken ? `is not ready (${waitingReason(agent) ?? 'no reason'})` : 'is ready'}`,
    evidence: [evidence.condition(agent, 'Ready')],
  };
};
