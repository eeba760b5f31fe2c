import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { isUnreadyBySelf, readiness } from '../../facts/nodes/nodes.ts';
import { containerStatuses, isReady, terminations, waitingReason } from '../../facts/pods.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const noNetwork =
  /NetworkPluginNotReady|cni plugin not initialized|cni config uninitialized|network plugin is not ready|NetworkReady=false/i;
const agents =
  /^(aws-node|cilium(?!-operator)|calico-node|kube-flannel|weave-net|azure-cns|azure-cni|anetd|netd|terway|kube-router|antrea-agent|kindnet|canal|ovnkube)/;
const agentReasons =
  /^(IPAMDNotReady|IPAMDNotRunning|InterfaceNotRunning|InterfaceNotUp|MissingLoopbackInterface|NPANotRunning)$/;
const lastWord = /error|fatal|fail|denied|unable|cannot/i;
/** A node gets its network within a minute or two of joining. */
const bootMinutes = 5;

export default rule({
  title: 'A node stays NotReady without a network: its CNI agent is missing, crashes or cannot be pulled',
  lookAlikes: [
    'a node that is a few minutes old',
    'agents refused at admission: the webhook',
    'the runtime itself is down',
    'an instance that EC2 keeps in pending',
  ],
  judge(facts) {
    return facts.all('Node').flatMap((node) => {
      const said = isUnreadyBySelf(node) && noNetwork.test(readiness(node)?.message ?? '');
      const monitor = condition(node, 'NetworkingReady');
      const agentSays = monitor?.status === 'False' && agentReasons.test(monitor.reason ?? '');
      if ((!said && !agentSays) || minutesBetween(node.metadata.creationTimestamp, facts.now) < bootMinutes) return [];
      const agent = facts.podsOn(node.metadata.name).find((pod) => agents.test(pod.metadata.name));
      const why = agent ? agentTrouble(facts, agent) : 'no CNI agent runs there';
      const evidence = cite('platform', facts);
      const words = agent
        ? facts.logsOf(agent).flatMap((log) =>
            log.text
              .split('\n')
              .filter((line) => lastWord.test(line))
              .slice(-1)
              .map((line) => ({ log, line })),
          )
        : [];
      const iam = facts.events.filter((event) => event.reason === 'MissingIAMPermissions');
      return [
        {
          mechanism: 'node-not-initialized' as const,
          explains: [
            'sandbox-network' as const,
            'pending' as const,
            'scheduling' as const,
            'unknown-symptom' as const,
            'rollout' as const,
            'probe' as const,
          ],
          owner: 'platform' as const,
          boundary: 'network' as const,
          strength: why && agent ? ('derived' as const) : ('circumstantial' as const),
          cause: text(
            `Node ${node.metadata.name} has had no network for ${duration(minutesBetween(readiness(node)?.lastTransitionTime, facts.now))}: ${why || `its CNI agent ${agent?.metadata.name} runs and has not set it up`}.`,
          ),
          root: refOf(agent ? facts.workloadOf(agent) : node),
          affects: harmedBy(facts, [node]),
          onset: readiness(node)?.lastTransitionTime,
          evidence: [
            evidence.condition(node, 'Ready'),
            ...(monitor ? [evidence.condition(node, 'NetworkingReady')] : []),
            ...(agent
              ? [
                  evidence.field(agent, 'status.containerStatuses', describe(agent)),
                  ...facts
                    .eventsAbout(agent)
                    .filter((event) => event.type === 'Warning')
                    .slice(-2)
                    .map((event) => evidence.event(event)),
                ]
              : []),
            ...words.slice(0, 2).map((entry) => evidence.log(entry.log, entry.line)),
            ...iam.slice(-1).map((event) => evidence.event(event)),
          ],
          chain: [...(agent ? [link(agent, why || 'running')] : []), link(node, 'no network')],
          nextSteps: [
            text(
              agent
                ? `kubectl -n ${agent.metadata.namespace} describe pod ${agent.metadata.name}; kubectl -n ${agent.metadata.namespace} logs ${agent.metadata.name} --all-containers`
                : `Why does the CNI DaemonSet not run on ${node.metadata.name}? kubectl -n kube-system describe daemonset; look at its tolerations, nodeSelector and FailedCreate events.`,
            ),
          ],
        },
      ];
    });
  },
});

const agentTrouble = (facts: ClusterFacts, agent: KubeObject): string => {
  if (isReady(agent)) return '';
  const waiting = containerStatuses(agent).find((status) => status.state?.waiting)?.state?.waiting;
  const end = terminations(agent)[0]?.terminated;
  const event = facts
    .eventsAbout(agent)
    .filter((entry) => entry.type === 'Warning')
    .at(-1);
  return `its CNI agent ${agent.metadata.name} is not ready (${waitingReason(agent) ?? 'unready'}${end ? `, ended with ${end.reason ?? ''} ${end.exitCode}` : ''}${event ? `: ${event.message.slice(0, 120)}` : waiting?.message ? `: ${waiting.message.slice(0, 120)}` : ''})`;
};

const describe = (agent: KubeObject): string => waitingReason(agent) ?? (isReady(agent) ? 'ready' : 'not ready');
