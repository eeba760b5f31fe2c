import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceStatusOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { leaseAgeMinutes, leaseOf, readiness } from '../../facts/nodes/nodes.ts';
import { duration, earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** The kubelet’s own words for a runtime that does not answer; a runtime that only lacks a network is the CNI’s. */
const down =
  /container runtime is down|container runtime status check may not have completed|PLEG is not healthy|pleg has yet to be successful|container runtime not ready(?!: NetworkReady)(?!.*NetworkPluginNotReady)/;
const socket =
  /(containerd|crio|docker|cri-dockerd)\.sock.*(connection refused|no such file|timeout)|(connection refused|no such file).*(containerd|crio)\.sock|ContainerdUnhealthy|ContainerdStart/i;
/** Conditions by which node problem detector, EKS’ and AKS’ agents say the same; True is bad for the first group. */
const badWhenTrue = [
  'ContainerRuntimeUnhealthy',
  'KubeletUnhealthy',
  'ContainerRuntimeProblem',
  'KubeletProblem',
  'FrequentContainerdRestart',
  'FrequentKubeletRestart',
  'FrequentDockerRestart',
  'KernelDeadlock',
  'CorruptDockerOverlay2',
  'XfsShutdown',
];
const badWhenFalse = ['ContainerRuntimeReady', 'KernelReady'];

export default rule({
  title: 'The kubelet of a node says that its container runtime is down, or the node’s agents say so',
  lookAlikes: [
    'Ready=Unknown: the kubelet itself is silent',
    'NetworkReady=false: the CNI',
    'many nodes with one image at once: the image',
    'a bad host: its status check fails',
  ],
  judge(facts) {
    return facts.all('Node').flatMap((node) => {
      const ready = readiness(node);
      const said = ready?.status === 'False' && down.test(ready.message ?? '');
      const refused = facts.eventsAbout(node).filter((event) => socket.test(`${event.reason} ${event.message}`));
      const agent = [
        ...badWhenTrue.filter((type) => isTrue(node, type)),
        ...badWhenFalse.filter((type) => condition(node, type)?.status === 'False'),
      ];
      // Process ids are used up by somebody: the node is the victim, and a new one would fill as well.
      const starved = agent.some((type) => /OutOfPID/.test(condition(node, type)?.reason ?? ''));
      if (!said && agent.length === 0 && refused.length === 0) return [];
      const evidence = cite('platform', facts);
      const age = leaseAgeMinutes(facts, leaseOf(facts, node));
      const checked = instanceStatusOf(facts, node);
      const words = said
        ? (ready?.message ?? '').slice(0, 160)
        : agent
            .map((type) => `${type}=${condition(node, type)?.status} ${condition(node, type)?.reason ?? ''}`)
            .join(', ') || refused[0]!.message.slice(0, 160);
      return [
        {
          mechanism: 'node-runtime' as const,
          explains: [
            'sandbox-network' as const,
            'probe' as const,
            'crash' as const,
            'pending' as const,
            'rollout' as const,
            'image-pull' as const,
            'volume' as const,
            'unknown-symptom' as const,
            'eviction' as const,
            'job' as const,
          ],
          owner: 'platform' as const,
          boundary: 'node' as const,
          strength: said || (agent.length > 0 && !starved) ? ('direct' as const) : ('derived' as const),
          cause: text(
            `The container runtime of node ${node.metadata.name} does not work (${words})${age < 2 ? `, while its kubelet renewed its lease ${duration(age)} ago` : ''}${checked?.SystemStatus?.Status === 'ok' ? ' and its EC2 checks pass' : ''}: the node must be replaced.`,
          ),
          root: refOf(node),
          affects: harmedBy(facts, [node]),
          onset: earliest(said ? ready?.lastTransitionTime : undefined, ...refused.map((event) => event.firstAt)),
          evidence: [
            evidence.condition(node, 'Ready'),
            ...agent.slice(0, 2).map((type) => evidence.condition(node, type)),
            ...refused.slice(-1).map((event) => evidence.event(event)),
            ...(leaseOf(facts, node) ? [evidence.field(leaseOf(facts, node)!, 'spec.renewTime')] : []),
            ...(checked
              ? [
                  evidence.aws(
                    'ec2.describeInstanceStatus',
                    `${checked.InstanceId}.SystemStatus`,
                    checked.SystemStatus?.Status,
                  ),
                ]
              : []),
            ...sandboxEvents(facts, node).map((event) => evidence.event(event)),
          ],
          chain: [
            link(node, words),
            ...facts
              .podsOn(node.metadata.name)
              .slice(0, 2)
              .map((pod) => link(pod, 'cannot start or be seen')),
          ],
          nextSteps: [
            text(
              `kubectl cordon ${node.metadata.name}, look at it while it lives (journalctl -u containerd -u kubelet), then replace it: kubectl delete node ${node.metadata.name}`,
            ),
          ],
        },
      ];
    });
  },
});

const sandboxEvents = (facts: ClusterFacts, node: KubeObject) =>
  facts
    .podsOn(node.metadata.name)
    .flatMap((pod) => facts.eventsAbout(pod, 'FailedCreatePodSandBox').slice(-1))
    .slice(0, 1);
