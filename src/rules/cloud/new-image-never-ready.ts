import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { lastWrite, nodeClassOf, poolOf, waitingFor } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { isNotReady, isUnreadyBySelf, softwareOf } from '../../facts/nodes/nodes.ts';
import { minutesBetween, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const bootMinutes = 5;
/** Faults of the runtime itself, as opposed to a registry, an address or a policy that refuses. */
const runtimeFault =
  /unpack|failed to extract layer|snapshotter|failed to rebase|shim|runc|oci runtime|failed to start sandbox|containerd.{0,40}(panic|fatal|incompatible)/i;
const vendorImage = /^(amazon-eks-|bottlerocket|ubuntu-eks)/;

export default rule({
  title:
    'New nodes of a class fail in the container runtime of a new vendor image, while nodes of the former image are well',
  lookAlikes: [
    '“cni plugin not initialized” as consequence: the CNI’s own image did not arrive',
    'user data that was changed at the same time: then that change comes first',
    'a registry that refuses on all nodes',
  ],
  judge(facts) {
    return facts.all('NodePool').flatMap((pool) => {
      const nodeClass = nodeClassOf(facts, pool);
      const nodes = facts
        .all('Node')
        .filter(
          (node) =>
            nodeClassOf(facts, poolOf(facts, node)) === nodeClass &&
            minutesBetween(node.metadata.creationTimestamp, facts.now) > bootMinutes,
        );
      const own = nodes.filter((node) => poolOf(facts, node) === pool);
      const bad = own.filter(isUnreadyBySelf);
      const good = nodes.filter((node) => !isNotReady(node));
      if (!nodeClass || bad.length < 2 || good.length === 0) return [];
      const image = imageOf(facts, bad[0]!);
      const split =
        bad.every((node) => imageOf(facts, node) === image) && good.every((node) => imageOf(facts, node) !== image);
      const faults = bad.flatMap((node) => faultEvents(facts, node)).slice(0, 3);
      const write = lastWrite(nodeClass);
      const touched =
        write && toMs(write.time) > Math.max(...good.map((node) => toMs(node.metadata.creationTimestamp)));
      if (!image || !split || faults.length === 0 || touched) return [];
      return [findingOf(facts, pool, nodeClass, bad, good, image, faults)];
    });
  },
});

const imageOf = (facts: ClusterFacts, node: KubeObject): string =>
  facts.claimOf(node)?.status?.imageID ?? softwareOf(node).os;

const faultEvents = (facts: ClusterFacts, node: KubeObject): KubeEvent[] =>
  facts.podsOn(node.metadata.name).flatMap((pod) =>
    facts
      .eventsAbout(pod)
      .filter((event) => /^Failed/.test(event.reason) && runtimeFault.test(event.message))
      .slice(-1),
  );

const findingOf = (
  facts: ClusterFacts,
  pool: KubeObject,
  nodeClass: KubeObject,
  bad: KubeObject[],
  good: KubeObject[],
  image: string,
  faults: KubeEvent[],
) => {
  const evidence = cite('cloud', facts);
  const amis: any[] = nodeClass.status?.amis ?? [];
  const ami = amis.find((entry) => entry.id === image) ?? amis[0];
  const [runtime, former] = [softwareOf(bad[0]!).runtime, softwareOf(good[0]!).runtime];
  const own = ami?.name && !vendorImage.test(ami.name);
  const waiting = waitingFor(facts, pool);
  return {
    mechanism: 'node-image' as const,
    explains: [
      'node-not-initialized' as const,
      'node-not-joining' as const,
      'node-runtime' as const,
      'sandbox-network' as const,
      'image-pull' as const,
      'pending' as const,
      'scheduling' as const,
      'probe' as const,
      'rollout' as const,
      'network' as const,
    ],
    owner: own ? ('platform' as const) : ('cloud' as const),
    boundary: 'node' as const,
    strength: 'derived' as const,
    cause: text(
      `All ${bad.length} nodes of NodePool ${pool.metadata.name} with image ${ami?.name ?? image} (${runtime}) fail in the container runtime (“${faults[0]!.message.slice(0, 160)}”), while ${good.length} nodes with the former image${former !== runtime ? ` (${former})` : ''} and the same class are well.`,
    ),
    root: refOf(nodeClass),
    affects: [...harmedBy(facts, bad), ...waiting.map(refOf), refOf(pool)],
    onset: bad.map((node) => node.metadata.creationTimestamp ?? '').sort()[0],
    evidence: [
      ...faults.map((event) => evidence.event(event)),
      evidence.condition(bad[0]!, 'Ready'),
      evidence.field(
        bad[0]!,
        'status.nodeInfo',
        runtime,
        `${softwareOf(bad[0]!).os} kernel ${softwareOf(bad[0]!).kernel}`,
      ),
      evidence.field(
        good[0]!,
        'status.nodeInfo',
        former,
        `${softwareOf(good[0]!).os} kernel ${softwareOf(good[0]!).kernel}`,
      ),
      evidence.field(nodeClass, 'spec.amiSelectorTerms'),
      evidence.field(nodeClass, 'status.amis'),
      ...(nodeClass.spec?.userData ? [evidence.field(nodeClass, 'spec.userData')] : []),
    ],
    chain: [
      link(nodeClass, `resolves to ${ami?.name ?? image}`),
      ...bad.slice(0, 2).map((node) => link(node, 'runtime cannot start containers')),
      ...waiting.slice(0, 2).map((pod) => link(pod, 'waits')),
    ],
    contributing: own
      ? []
      : [
          {
            owner: 'platform' as const,
            action: text(
              `Pin ${nodeClass.kind} ${nodeClass.metadata.name} to the former image (${names(good, 1)} runs it) and test new ones first.`,
            ),
          },
        ],
    nextSteps: [
      text(`Pin the former image in ${nodeClass.kind} ${nodeClass.metadata.name} and let the failed nodes go.`),
      text('Report the image version and the runtime’s message to the vendor of the image.'),
    ],
  };
};
