import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import { lastPerPod, linesLike } from '../../facts/logs/log-search.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const unreached =
  /i\/o timeout|connect(ion)? timed out|ETIMEDOUT|TLS handshake timeout|no route to host|network is unreachable|dial tcp .*timeout/i;

export default rule({
  title:
    'Connections to the outside fail: the NAT gateway has no ports left or is gone, or the default route is a blackhole',
  lookAlikes: [
    'one partner that does not answer while others do',
    'inside addresses fail too: not the way out',
    'a full gateway nobody’s connections fail on',
  ],
  judge(facts, scope) {
    const ports = facts
      .cloudWatch('AWS/NATGateway', 'ErrorPortAllocation')
      .filter((series) => series.points.slice(-5).some(([, value]) => value > 0));
    const tables: any[] = facts.cloud('ec2.describeRouteTables')?.RouteTables ?? [];
    const holes = tables.flatMap((table) =>
      ((table.Routes ?? []) as any[])
        .filter((route) => route.State === 'blackhole' && route.DestinationCidrBlock === '0.0.0.0/0')
        .map((route) => ({ table, route })),
    );
    const gateways = ((facts.cloud('ec2.describeNatGateways')?.NatGateways ?? []) as any[]).filter(
      (gateway) =>
        /^(failed|deleting|deleted)$/.test(gateway.State ?? '') &&
        tables.some((table) => JSON.stringify(table.Routes ?? []).includes(gateway.NatGatewayId)),
    );
    if (ports.length + holes.length + gateways.length === 0) return [];
    const lines = lastPerPod(linesLike(facts, unreached));
    const pods = scope.pods.filter(
      (pod) =>
        lines.some(({ log }) => log.pod === pod.metadata.name) ||
        facts.eventsAbout(pod).some((event) => unreached.test(event.message)),
    );
    if (pods.length === 0) return [];
    const evidence = cite('platform', facts);
    const events = pods.flatMap((pod) =>
      facts
        .eventsAbout(pod)
        .filter((event) => unreached.test(event.message))
        .slice(-1),
    );
    const what = holes[0]
      ? `the default route of ${holes[0].table.RouteTableId} leads to ${holes[0].route.NatGatewayId ?? holes[0].route.GatewayId ?? holes[0].route.TransitGatewayId ?? 'nothing'}, which no longer exists`
      : gateways[0]
        ? `NAT gateway ${gateways[0].NatGatewayId} is ${gateways[0].State}${gateways[0].FailureMessage ? ` (${gateways[0].FailureMessage})` : ''}`
        : `NAT gateway ${ports[0]!.dimensions.NatGatewayId} cannot allocate ports (ErrorPortAllocation)`;
    return [
      {
        mechanism: 'network',
        explains: [
          'image-pull',
          'dependency',
          'application-error',
          'node-not-joining',
          'launch-failed',
          'unknown-symptom',
          'dns',
          'probe',
          'crash',
          'identity',
        ],
        owner: 'platform',
        boundary: 'network',
        strength: holes.length + gateways.length > 0 ? 'direct' : 'derived',
        cause: text(`Connections to the outside fail because ${what}.`),
        root: {
          kind: 'NatGateway',
          name:
            ports[0]?.dimensions.NatGatewayId ??
            gateways[0]?.NatGatewayId ??
            holes[0]?.route.NatGatewayId ??
            'default route',
        },
        affects: pods.flatMap((pod) => facts.ownerChain(pod).map(refOf)),
        onset: earliest(ports[0]?.points.find(([, value]) => value > 0)?.[0], ...events.map((event) => event.firstAt)),
        evidence: [
          ...ports
            .slice(0, 1)
            .map((series) => evidence.cloudWatch(series, `${series.points.at(-1)?.[1]} failed allocations`)),
          ...holes
            .slice(0, 2)
            .map(({ table, route }) =>
              evidence.aws(
                'ec2.describeRouteTables',
                `${table.RouteTableId}.Routes`,
                `${route.DestinationCidrBlock} ${route.State}`,
                route.NatGatewayId ?? route.GatewayId ?? '',
              ),
            ),
          ...gateways
            .slice(0, 1)
            .map((gateway) =>
              evidence.aws(
                'ec2.describeNatGateways',
                `${gateway.NatGatewayId}.State`,
                gateway.State,
                gateway.FailureMessage ?? '',
              ),
            ),
          ...events.slice(0, 2).map((event) => evidence.event(event)),
          ...lines.slice(0, 2).map((entry) => evidence.log(entry.log, entry.line)),
        ],
        chain: [
          { object: 'way out of the VPC', claim: what },
          ...pods.slice(0, 1).map((pod) => ({
            object: `Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
            uid: pod.metadata.uid,
            claim: 'cannot connect',
          })),
        ],
        contributing:
          ports.length > 0
            ? [
                {
                  owner: 'app',
                  action: text(
                    'Reuse connections to the same destination: 55,000 at once per gateway and destination is the limit.',
                  ),
                },
              ]
            : [],
        nextSteps: [
          text(
            ports.length > 0
              ? 'Add addresses to the NAT gateway or gateways per zone; use VPC endpoints for AWS services.'
              : 'Point the default route of the private subnets at a living NAT gateway.',
          ),
        ],
      },
    ];
  },
});
