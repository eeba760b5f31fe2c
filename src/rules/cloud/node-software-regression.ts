import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceStatusOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { groupOf, isNotReady, isSilent, readiness, removalMark, softwareOf, zoneOf } from '../../facts/nodes/nodes.ts';
import { isManaged, vendorOf } from '../../facts/provider.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A node that is still booting is not yet a witness. */
const bootMinutes = 5;

export default rule({
  title: 'Nodes of several pools fail that share one new image, kernel or runtime; nodes with another one are well',
  lookAlikes: [
    'one pool only: its own user data or settings',
    'one zone or one subnet',
    'the CNI or another add-on that cannot start for its own reason',
  ],
  judge(facts) {
    const nodes = facts
      .all('Node')
      .filter((node) => minutesBetween(node.metadata.creationTimestamp, facts.now) > bootMinutes && !removalMark(node));
    const bad = nodes.filter(isNotReady);
    const good = nodes.filter((node) => !isNotReady(node));
    if (!isManaged(facts) || bad.length < 2 || good.length < 2) return [];
    const groups = new Set(bad.map(groupOf));
    const zones = new Set(bad.map(zoneOf));
    if (groups.size < 2 || (zones.size < 2 && new Set(nodes.map(zoneOf)).size > 1)) return [];
    const shared = (['os', 'kernel', 'runtime'] as const).filter((key) => {
      const value = softwareOf(bad[0]!)[key];
      return (
        value !== '' &&
        bad.every((node) => softwareOf(node)[key] === value) &&
        isTelling(
          bad.length,
          good.filter((node) => softwareOf(node)[key] === value).length,
          good.filter((node) => softwareOf(node)[key] !== value).length,
        )
      );
    });
    if (shared.length === 0 || bad.some((node) => instanceStatusOf(facts, node)?.SystemStatus?.Status === 'impaired'))
      return [];
    const evidence = cite('cloud', facts);
    const words = shared.map((key) => `${key} ${softwareOf(bad[0]!)[key]}`).join(', ');
    const [first] = shared as [(typeof shared)[number]];
    const value = softwareOf(bad[0]!)[first];
    const alike = good.filter((node) => softwareOf(node)[first] === value).length;
    const example = good.find((node) => softwareOf(node)[first] !== value)!;
    return [
      {
        mechanism: 'node-image',
        explains: [
          'node-silent',
          'node-runtime',
          'node-not-initialized',
          'node-not-joining',
          'sandbox-network',
          'image-pull',
          'crash',
          'probe',
          'pending',
          'scheduling',
          'network',
          'dns',
          'unknown-symptom',
          'rollout',
        ],
        owner: 'cloud',
        boundary: 'node',
        strength: 'derived',
        cause: text(
          `${bad.length} nodes of ${groups.size} pools fail and share ${words}, which ${alike === 0 ? `none of the ${good.length} healthy nodes has` : `only ${alike} of the ${good.length} healthy nodes have, not failed so far`}: the node image of ${vendorOf(facts)} is at fault.`,
        ),
        root: refOf(bad[0]!),
        affects: harmedBy(facts, bad),
        onset: earliest(...bad.map((node) => readiness(node)?.lastTransitionTime)),
        evidence: [
          ...bad
            .slice(0, 2)
            .flatMap((node) => [
              evidence.condition(node, 'Ready'),
              evidence.field(node, 'status.nodeInfo', describe(node)),
            ]),
          evidence.field(example, 'status.nodeInfo', describe(example), 'a healthy node'),
        ],
        chain: [
          { object: `node image (${words})`, claim: 'shared by all failing nodes only' },
          ...bad.slice(0, 2).map((node) => link(node, isSilent(node) ? 'silent' : 'not ready')),
        ],
        contributing: [
          {
            owner: 'platform',
            action: text('Pin the former image and roll the nodes back; do not follow a moving alias in production.'),
          },
        ],
        nextSteps: [
          text(
            `Pin the image that ${names(good, 1)} runs (${softwareOf(example).os}, ${softwareOf(example).kernel}) and replace ${names(bad)}.`,
          ),
          text(`Open a case with ${vendorOf(facts)} naming ${words}.`),
        ],
      },
    ];
  },
});

const describe = (node: KubeObject): string => Object.values(softwareOf(node)).join(', ');

/** All that fail run it; of the healthy ones few do, since a lock-up takes its time, and several run the former one. */
const isTelling = (failing: number, alike: number, others: number): boolean =>
  others >= 2 && (alike === 0 || (failing >= 3 && alike < failing));
