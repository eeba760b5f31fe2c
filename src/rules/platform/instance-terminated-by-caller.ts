import type { KubeObject } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, type TrailEvent, trailOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { isSilent, removalMark } from '../../facts/nodes/nodes.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const ending =
  /^(TerminateInstances|StopInstances|RebootInstances|TerminateInstanceInAutoScalingGroup|StartInstanceRefresh|UpdateAutoScalingGroup|SetDesiredCapacity|DeleteAutoScalingGroup|DeleteNodegroup|UpdateNodegroupConfig|UpdateNodegroupVersion)$/;
/** Karpenter and the node groups’ own service act on purpose, and drain first. */
const keepers =
  /karpenter|eks-auto-mode|AWSServiceRoleForAmazonEKSNodegroup|AWSServiceRoleForAutoScaling|cluster-autoscaler/i;
const soonMinutes = 20;

export default rule({
  title: 'Nodes vanish because somebody of the account terminated, stopped or resized their instances',
  lookAlikes: [
    'Karpenter or a node group removed the node on purpose after a drain',
    'a spot reclaim: the caller is AWS',
    'a call that failed',
  ],
  judge(facts) {
    const calls = trailOf(facts).filter(
      (event) =>
        ending.test(event.name) &&
        event.service === '' &&
        event.error === '' &&
        !keepers.test(`${event.actor} ${event.arn} ${event.userAgent}`),
    );
    if (calls.length === 0) return [];
    const hit = facts.all('Node').filter((node) => isSilent(node) && !removalMark(node));
    const ids = (node: KubeObject): string => instanceIdOf(node) ?? '';
    const byId = hit.filter((node) => ids(node) && calls.some((call) => call.text.includes(ids(node))));
    const gone = facts.events.filter(
      (event) => event.regarding.kind === 'Node' && /^(RemovingNode|DeletingNode)$/.test(event.reason),
    );
    const [first] = calls.filter((call) =>
      near(call, [
        ...hit.map((node) => node.status?.conditions?.find((entry: any) => entry.type === 'Ready')?.lastTransitionTime),
        ...gone.map((event) => event.firstAt),
      ]),
    );
    if (!first || (byId.length === 0 && hit.length + gone.length === 0)) return [];
    const nodes = byId.length > 0 ? byId : hit;
    const evidence = cite('platform', facts);
    return [
      {
        mechanism: 'node-removed',
        explains: [
          'node-silent',
          'pending',
          'scheduling',
          'eviction',
          'probe',
          'volume',
          'node-churn',
          'zone-outage',
          'unknown-symptom',
          'application-error',
          'crash',
        ],
        owner: 'platform',
        boundary: 'node',
        strength: byId.length > 0 ? 'direct' : 'derived',
        cause: text(
          `${first.actor} called ${first.name} at ${first.at}, ${nodes.length > 0 ? `and ${names(nodes)} fell silent` : `and ${gone.length} nodes vanished`} ${duration(Math.max(0, minutesBetween(first.at, facts.now)))} ago without a drain.`,
        ),
        root: { kind: 'CloudTrailEvent', name: first.name },
        affects: [
          ...harmedBy(facts, nodes),
          ...gone.map((event) => event.regarding),
          { kind: 'Cluster', name: facts.identity.name },
        ],
        onset: earliest(first.at),
        evidence: [
          ...calls
            .slice(0, 3)
            .map((call) =>
              evidence.aws(
                'cloudtrail.lookupEvents',
                'Events',
                `${call.name} by ${call.actor}`,
                `${call.arn} ${call.userAgent}`.trim(),
                call.at,
              ),
            ),
          ...nodes.slice(0, 2).map((node) => evidence.condition(node, 'Ready')),
          ...gone.slice(0, 2).map((event) => evidence.event(event)),
        ],
        chain: [
          { object: `${first.name} by ${first.actor}`, claim: `at ${first.at}` },
          ...nodes.slice(0, 2).map((node) => link(node, 'terminated')),
        ],
        nextSteps: [
          text(
            `Ask ${first.actor} what it does and stop it; nodes must be drained first: kubectl drain, or let Karpenter and the node group replace them.`,
          ),
        ],
      },
    ];
  },
});

const near = (call: TrailEvent, times: (string | undefined)[]): boolean =>
  times.some((time) => {
    const minutes = minutesBetween(call.at, time);
    return minutes >= -2 && minutes <= soonMinutes;
  });
