import { type KubeEvent, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceStatusOf, openIssues, trailOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { changesNetwork } from '../../facts/network/network-trail.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { isSilent, silentSince, zoneOf } from '../../facts/nodes/nodes.ts';
import { isTroubled } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { duration, earliest, minutesBetween, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A cut shows at once: kubelets are missed after 40 to 50 s, pulls and probes within minutes. */
const beforeMinutes = 30;
const unreached =
  /i\/o timeout|connection timed out|no route to host|TLS handshake timeout|context deadline exceeded|Could not connect|network is unreachable/i;

export default rule({
  title: 'Nodes or pods lose the network minutes after somebody of the account changed routes, gateways or rules',
  lookAlikes: [
    'a change long before or after the loss',
    'calls that failed, or that an AWS service made by itself',
    'an impaired zone or host',
  ],
  judge(facts, scope) {
    const changes = trailOf(facts).filter(changesNetwork);
    if (changes.length === 0) return [];
    const silent = facts.all('Node').filter(isSilent);
    const cut = silent.length > 0 ? [] : cutPods(facts, scope);
    const onset = earliest(...silent.map((node) => silentSince(facts, node)), ...cut.map((entry) => entry.at));
    if (!onset) return [];
    const ports = new Set(cut.flatMap((entry) => portsIn(entry.line?.text ?? '')));
    const near = changes.filter((change) => {
      if (concernsOtherPorts(change.text, ports)) return false;
      const minutes = (toMs(onset) - toMs(change.at)) / 60_000;
      return minutes >= -2 && minutes <= beforeMinutes;
    });
    const first = near[0];
    if (!first) return [];
    const evidence = cite('platform', facts);
    const checks = silent.map((node) => instanceStatusOf(facts, node)).filter(Boolean);
    const healthy = checks.length > 0 && checks.every((status) => status.SystemStatus?.Status === 'ok');
    const zones = new Set(silent.map(zoneOf)).size;
    const tables: any[] = facts.cloud('ec2.describeRouteTables')?.RouteTables ?? [];
    const orphan = tables.filter(
      (table) =>
        !(table.Associations ?? []).length &&
        (table.Routes ?? []).some((route: any) => route.DestinationCidrBlock === '0.0.0.0/0'),
    );
    const main = tables.find((table) => (table.Associations ?? []).some((entry: any) => entry.Main));
    const nat = facts.cloudWatch('AWS/NATGateway', 'ActiveConnectionCount')[0];
    return [
      {
        mechanism: 'network',
        explains: [
          'node-silent',
          'zone-outage',
          'image-pull',
          'dns',
          'dependency',
          'launch-failed',
          'node-not-joining',
          'pending',
          'eviction',
          'probe',
          'application-error',
          'crash',
          'sandbox-network',
          'unknown-symptom',
          'node-not-initialized',
          'identity',
        ],
        owner: 'platform',
        boundary: 'network',
        strength: silent.length >= 2 || orphan.length > 0 ? 'direct' : 'derived',
        cause: text(
          `${first.actor || 'Somebody'} (${first.userAgent.split(' ')[0] || 'own account'}) called ${[...new Set(near.map((change) => change.name))].join(', ')} at ${first.at}, ${duration(Math.max(0, minutesBetween(first.at, onset)))} before ${silent.length > 0 ? `${silent.length} of ${facts.all('Node').length} nodes${zones > 1 ? ` in ${zones} zones` : ''} fell silent` : 'connections began to fail'}${healthy ? '; their instances are healthy' : ''}.`,
        ),
        root: { kind: 'CloudTrailEvent', name: first.name },
        affects: [...harmedBy(facts, silent), ...cut.flatMap((entry) => entry.refs)],
        onset: first.at,
        evidence: [
          ...near
            .slice(0, 3)
            .map((change) =>
              evidence.aws(
                'cloudtrail.lookupEvents',
                'Events',
                `${change.name} by ${change.actor}`,
                `${change.arn} ${change.userAgent}`.trim(),
                change.at,
              ),
            ),
          ...orphan
            .slice(0, 1)
            .map((table) =>
              evidence.aws(
                'ec2.describeRouteTables',
                `${table.RouteTableId}.Associations`,
                [],
                'the table with the default route is associated with no subnet',
              ),
            ),
          ...(main
            ? [
                evidence.aws(
                  'ec2.describeRouteTables',
                  `${main.RouteTableId}.Routes`,
                  (main.Routes ?? [])
                    .map((route: any) => `${route.DestinationCidrBlock} ${route.GatewayId ?? route.NatGatewayId ?? ''}`)
                    .join(', '),
                  'main table, used by subnets without an association',
                ),
              ]
            : []),
          ...silent.slice(0, 2).map((node) => evidence.condition(node, 'Ready')),
          ...cut
            .slice(0, 2)
            .map((entry) =>
              entry.line ? evidence.log(entry.line.log, entry.line.text) : evidence.event(entry.event!),
            ),
          ...(nat
            ? [evidence.cloudWatch(nat, `${nat.points[0]?.[1]} then ${nat.points.at(-1)?.[1]} connections`)]
            : []),
        ],
        chain: [
          { object: `${first.name} by ${first.actor}`, claim: `at ${first.at}` },
          ...silent.slice(0, 2).map((node) => link(node, 'lost contact')),
        ],
        nextSteps: [
          text(
            `Undo the change (${first.name}) and stop the pipeline or session of ${first.actor}; ask it what else it applied: aws cloudtrail lookup-events --lookup-attributes AttributeKey=Username,AttributeValue=${first.actor}`,
          ),
        ],
        contributing:
          openIssues(facts).length > 0
            ? [{ owner: 'cloud', action: text('An open AWS Health event runs at the same time; rule it out.') }]
            : [],
      },
    ];
  },
});

/** Ports of the addresses that a line names. */
const portsIn = (line: string): number[] =>
  [...line.matchAll(/[\w.\]]:(\d{2,5})(?=[:/\s"]|$)/g)].map((match) => Number(match[1]));

/** A change of rules that name ports, none of which is one that times out: another matter. */
const concernsOtherPorts = (change: string, ports: Set<number>): boolean => {
  const from = [...change.matchAll(/"fromPort\\?":(\d+)/g)].map((match) => Number(match[1]));
  const to = [...change.matchAll(/"toPort\\?":(\d+)/g)].map((match) => Number(match[1]));
  return (
    ports.size > 0 &&
    from.length > 0 &&
    !from.some((low, index) => [...ports].some((port) => port >= low && port <= (to[index] ?? low)))
  );
};

/** Complaints older than this belong to another incident. */
const recentMinutes = 3 * 60;

interface Cut {
  refs: ObjectRef[];
  at: string | undefined;
  event?: KubeEvent;
  line?: PodLogLine;
}

/** Pods of the subject whose connections time out, with when that began: by their events, else in their own words. */
const cutPods = (facts: ClusterFacts, scope: Scope): Cut[] =>
  scope.pods.flatMap((pod): Cut[] => {
    const told = facts
      .eventsAbout(pod)
      .filter((event) => isTroubled(pod) && unreached.test(event.message))
      .slice(0, 1)
      .map((event) => ({ refs: facts.ownerChain(pod).map(refOf), at: event.firstAt, event }));
    if (told.length > 0) return told;
    return grep(facts, [pod], unreached)
      .filter((line) => line.at && minutesBetween(line.at, facts.now) < recentMinutes)
      .slice(0, 1)
      .map((line) => ({ refs: facts.ownerChain(pod).map(refOf), at: line.at, line }));
  });
