import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type SandboxFailure, sandboxFailures } from '../../facts/network/sandboxes.ts';
import { names } from '../../facts/nodes/node-group.ts';
import { isReady, podSpecOf, restarts } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const agents =
  /^(aws-node|cilium|calico-node|kube-flannel|weave-net|azure-cns|azure-cni|azure-npm|anetd|netd|terway|kube-router|antrea-agent|kindnet|canal|multus|ovnkube)/;

export default rule({
  title:
    'Sandboxes of bound pods cannot be made: CNI agent down, runtime of one node stuck, or a runtime handler missing',
  lookAlikes: [
    'a full subnet or a full node: addresses',
    'a volume, image or configuration that is missing: those come after the sandbox',
    'a RuntimeClass that does not exist: refused at creation',
  ],
  judge(facts) {
    const failures = sandboxFailures(facts);
    return [...groups(failures)].flatMap(([kind, list]) => {
      const nodes = [...new Set(list.map((failure) => failure.node).filter((node) => node !== undefined))];
      const agent = agentsOn(facts, nodes);
      const broken = agent.filter((pod) => !isReady(pod) || restarts(pod) > 2);
      const evidence = cite('platform', facts);
      const pods = list.map((failure) => failure.pod);
      const one = nodes.length === 1 && facts.all('Node').length > 1;
      const handler = list[0]!.handler;
      const words =
        kind === 'handler'
          ? `node ${names(nodes)} has no runtime handler "${handler}", which RuntimeClass ${podSpecOf(pods[0]!)?.runtimeClassName ?? handler} asks for`
          : broken.length > 0
            ? `the CNI agent ${broken[0]!.metadata.name} on ${broken[0]!.spec?.nodeName} is not ready`
            : kind === 'address'
              ? 'the CNI has no address to give; whether subnet, interfaces or the instance is the reason is not in what was read'
              : `${one ? `node ${names(nodes)} alone` : `${nodes.length} nodes`} cannot set up sandboxes (${list[0]!.event.message.replace(/^.*desc = /m, '').slice(0, 120)})`;
      const known = kind === 'handler' || broken.length > 0 || (one && kind === 'runtime');
      return [
        {
          mechanism: 'sandbox-network' as const,
          explains: ['unknown-symptom' as const, 'rollout' as const, 'pending' as const, 'job' as const],
          owner: 'platform' as const,
          boundary:
            kind === 'runtime' ? ('node' as const) : kind === 'handler' ? ('config' as const) : ('network' as const),
          strength: known ? ('derived' as const) : ('circumstantial' as const),
          cause: text(`${pods.length} bound pods stop before their first container: ${words}.`),
          root: refOf(broken[0] ?? nodes[0] ?? pods[0]!),
          affects: pods.flatMap((pod) => facts.ownerChain(pod).map(refOf)),
          onset: earliest(...list.map((failure) => failure.event.firstAt)),
          evidence: [
            ...list.slice(0, 2).map((failure) => evidence.event(failure.event)),
            ...broken.slice(0, 2).map((pod) => evidence.condition(pod, 'Ready')),
            ...nodes.slice(0, 1).map((node) => evidence.condition(node, 'Ready')),
            ...(kind === 'handler'
              ? facts
                  .all('RuntimeClass')
                  .filter((object) => object.handler === handler)
                  .map((object) => evidence.field(object, 'handler'))
              : []),
          ],
          chain: [
            ...broken.slice(0, 1).map((pod) => link(pod, 'not ready')),
            ...nodes.slice(0, 1).map((node) => link(node, 'sandboxes fail')),
            ...pods.slice(0, 1).map((pod) => link(pod, 'no sandbox')),
          ],
          nextSteps: [
            text(
              kind === 'handler'
                ? `Give RuntimeClass ${handler} a scheduling.nodeSelector for nodes that have it, or install the handler on ${names(nodes)}.`
                : broken.length > 0
                  ? `kubectl -n ${broken[0]!.metadata.namespace} logs ${broken[0]!.metadata.name} --all-containers --previous`
                  : one
                    ? `kubectl cordon ${names(nodes)}; look at containerd and the CNI agent there, then replace the node.`
                    : 'kubectl -n kube-system get pods -o wide | grep -E "aws-node|cilium|calico|azure-cns|netd|terway"; read the agent’s log on a failing node.',
            ),
          ],
        },
      ];
    });
  },
});

const groups = (failures: SandboxFailure[]): Map<SandboxFailure['kind'], SandboxFailure[]> => {
  const found = new Map<SandboxFailure['kind'], SandboxFailure[]>();
  for (const failure of failures) found.set(failure.kind, [...(found.get(failure.kind) ?? []), failure]);
  return found;
};

const agentsOn = (facts: ClusterFacts, nodes: KubeObject[]): KubeObject[] =>
  nodes.flatMap((node) => facts.podsOn(node.metadata.name).filter((pod) => agents.test(pod.metadata.name)));
