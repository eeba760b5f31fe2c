import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { softwareOf } from '../../facts/nodes/nodes.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { lastValue, mean, risesAt } from '../../facts/series.ts';
import { rule } from '../../triage/rule.ts';

const podEni = 'vpc.amazonaws.com/pod-eni';
/** Latency of a pod's own lookups, calls or connections. */
const latency = /(dns|lookup|resolve|connect|latency|duration)/i;
/** So much slower than pods on the same nodes that chance is out. */
const factor = 10;

export default rule({
  title: 'Only pods with a branch interface (security groups for pods) are slow, beside fast ones on the same nodes',
  lookAlikes: [
    'slow and fast pods sit on different nodes or zones',
    'CoreDNS or its upstream is slow for all',
    'the slow service itself changed',
  ],
  judge(facts) {
    const secured = facts.all('Pod').filter((pod) => pod.metadata.annotations?.[podEni]);
    if (secured.length === 0) return [];
    const measured = facts.seriesLike(latency).filter((series) => series.labels.pod);
    const of = (pods: KubeObject[]): Series[] =>
      measured.filter((series) =>
        pods.some(
          (pod) =>
            pod.metadata.name === series.labels.pod &&
            (!series.labels.namespace || pod.metadata.namespace === series.labels.namespace),
        ),
      );
    const nodes = new Set(secured.map((pod) => pod.spec?.nodeName));
    const plain = facts
      .all('Pod')
      .filter((pod) => !pod.metadata.annotations?.[podEni] && nodes.has(pod.spec?.nodeName));
    const names = [...new Set(of(secured).map((series) => series.name))];
    const telling = names
      .map((name) => ({
        name,
        slow: of(secured).filter((series) => series.name === name),
        fast: of(plain).filter((series) => series.name === name),
      }))
      .find(
        ({ slow, fast }) =>
          slow.length > 0 && fast.length > 0 && mean(slow.map(lastValue)) > factor * mean(fast.map(lastValue)),
      );
    if (!telling) return [];
    const { slow, fast } = telling;
    const cni = facts.find('DaemonSet', 'aws-node', 'kube-system');
    const image: string = podSpecOf(cni ?? secured[0]!)?.containers?.[0]?.image ?? '';
    const node = facts.nodeOf(secured[0]!);
    const rise = slow
      .map((series) => risesAt(series, 5))
      .filter((at) => at !== undefined)
      .sort((a, b) => a - b)[0];
    const evidence = cite('platform', facts);
    const victims = secured.filter((pod) => slow.some((series) => series.labels.pod === pod.metadata.name));
    return [
      {
        mechanism: 'dns',
        explains: ['application-error', 'dependency', 'load', 'unknown-symptom', 'probe', 'traffic', 'network'],
        owner: 'platform',
        boundary: 'dns',
        strength: 'derived',
        cause: text(
          `Only pods with branch interfaces are slow (${telling.name} ${lastValue(slow[0]!)} against ${lastValue(fast[0]!)} of other pods on the same nodes) since CNI ${image.split(':').at(-1)} runs under kernel ${node ? softwareOf(node).kernel : 'of the new node image'}.`,
        ),
        root: refOf(cni ?? secured[0]!),
        affects: victims.flatMap((pod) => [...facts.ownerChain(pod), ...facts.servicesOf(pod)].map(refOf)),
        onset: rise === undefined ? undefined : new Date(rise * 1000).toISOString(),
        evidence: [
          evidence.field(
            victims[0]!,
            'metadata.annotations',
            podEni,
            JSON.stringify(victims[0]!.metadata.annotations?.[podEni] ?? '').slice(0, 120),
          ),
          evidence.series(slow[0]!, `rose to ${lastValue(slow[0]!)}`),
          evidence.series(fast[0]!, `${lastValue(fast[0]!)}: no branch interface, same nodes`),
          ...(cni ? [evidence.field(cni, 'spec.template.spec.containers[0].image')] : []),
          ...(node
            ? [evidence.field(node, 'status.nodeInfo.kernelVersion'), evidence.field(node, 'status.nodeInfo.osImage')]
            : []),
          ...facts
            .seriesLike(/^coredns_dns_request_duration/)
            .slice(0, 1)
            .map((series) => evidence.series(series, `${lastValue(series)}: CoreDNS answers fast`)),
          ...policies(facts).map((policy) => evidence.field(policy, 'spec.securityGroups')),
        ],
        chain: [
          ...(cni ? [link(cni, image)] : []),
          ...(node ? [link(node, softwareOf(node).kernel)] : []),
          link(victims[0]!, 'slow'),
        ],
        contributing: [
          {
            owner: 'cloud',
            action: text(
              'The vendor’s kernel and CNI meet badly: ask for the CNI version that supports this node image.',
            ),
          },
        ],
        nextSteps: [
          text(
            'Update the VPC CNI add-on to a version made for this kernel, then restart the slow pods: aws eks update-addon --addon-name vpc-cni --cluster-name <cluster>',
          ),
        ],
      },
    ];
  },
});

const policies = (facts: ClusterFacts): KubeObject[] => facts.all('SecurityGroupPolicy').slice(0, 1);
