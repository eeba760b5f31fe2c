import { text } from '../../domain/text.ts';
import { trailOf } from '../../facts/aws.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { growth, mean } from '../../facts/series.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const aboutGateway = /\bnat|egress|gateway.*(?:traffic|bytes)|data ?(?:transfer|processing)/i;
const byteMetrics = ['BytesOutToDestination', 'BytesInFromSource', 'BytesInFromDestination', 'BytesOutToSource'];
/** Calls that take the private way to a cloud service away: route tables, private names, or the endpoint itself. */
const takesAway = /RemoveRouteTableId|RemoveSubnetId|"PrivateDnsEnabled\\*":\s*\{?\\*"?(?:content\\*":)?\s*false/i;
const jumpFactor = 1.5;
const beforeJumpMinutes = 3 * 60;
const longestMinutes = 14 * 24 * 60;

export default rule({
  title:
    'Traffic through the NAT gateway jumped because the way to a cloud service no longer leads over its VPC endpoint',
  lookAlikes: [
    'pods that move more bytes than before: the application, or demand',
    'an endpoint whose route tables include the private ones: not its way',
    'connections that are cut: a loss, not a detour',
  ],
  judge(facts) {
    const isAlerted = facts.alerts.some((alert) =>
      aboutGateway.test(
        `${alert.labels.alertname} ${alert.annotations.summary ?? ''}`.replace(/([a-z])([A-Z])/g, '$1 $2'),
      ),
    );
    if (!isAlerted || podsMoveMore(facts)) return [];
    const jump = jumpOf(facts);
    const call = trailOf(facts).findLast(
      (event) =>
        (event.name === 'DeleteVpcEndpoints' || (event.name === 'ModifyVpcEndpoint' && takesAway.test(event.text))) &&
        event.error === '' &&
        (jump ? isAtJump(event.at, jump.at) : minutesBetween(event.at, facts.now) <= longestMinutes),
    );
    const bypassed = bypassedEndpoints(facts);
    if (!call && !(jump && bypassed.length > 0)) return [];
    const evidence = cite('platform', facts);
    const services = bypassed.map(({ endpoint }) => endpoint.ServiceName).join(', ');
    const tables = bypassed[0]?.tables.map((table) => table.RouteTableId).join(', ');
    return [
      {
        mechanism: 'network' as const,
        explains: ['traffic' as const, 'load' as const, 'unknown-symptom' as const],
        owner: 'platform' as const,
        boundary: 'network' as const,
        strength: call && (jump || bypassed.length > 0) ? ('direct' as const) : ('derived' as const),
        cause: text(
          [
            call
              ? `${call.actor || 'Somebody'} called ${call.name} at ${call.at}, ${duration(minutesBetween(call.at, facts.now))} ago`
              : '',
            bypassed.length > 0 ? `the endpoint of ${services} is in none of the private route tables (${tables})` : '',
            `so that traffic goes through the NAT gateway${jump ? `, whose ${jump.metric} rose ${jump.factor.toFixed(1)}-fold at ${jump.at}` : ''}; the pods move no more bytes than before.`,
          ]
            .filter(Boolean)
            .join('; '),
        ),
        root: {
          kind: 'VpcEndpoint',
          name: bypassed[0]?.endpoint.VpcEndpointId ?? /vpce-\w+/.exec(call?.text ?? '')?.[0] ?? 'endpoint',
        },
        affects: 'cluster' as const,
        onset: call?.at ?? jump?.at,
        evidence: [
          ...(call
            ? [
                evidence.aws(
                  'cloudtrail.lookupEvents',
                  'Events',
                  `${call.name} by ${call.actor}`,
                  call.text.slice(0, 500),
                  call.at,
                ),
              ]
            : []),
          ...bypassed
            .slice(0, 2)
            .map(({ endpoint, tables }) =>
              evidence.aws(
                'ec2.describeVpcEndpoints',
                `${endpoint.VpcEndpointId}.RouteTableIds`,
                endpoint.RouteTableIds ?? [],
                `${endpoint.ServiceName}: lacks ${tables.map((table) => table.RouteTableId).join(', ')}, whose default routes lead to NAT gateways`,
              ),
            ),
          ...(jump ? [evidence.cloudWatch(jump.series, `× ${jump.factor.toFixed(1)} since ${jump.at}`)] : []),
          ...received(facts)
            .slice(0, 2)
            .map((series) => evidence.series(series, 'as before')),
        ],
        chain: [
          { object: 'private route tables', claim: 'have no route to the endpoint' },
          { object: 'NAT gateway', claim: 'carries the traffic of the service' },
        ],
        contributing: [],
        nextSteps: [
          text(
            bypassed[0]
              ? `Put the private route tables back on the endpoint, in the code that removed them: aws ec2 modify-vpc-endpoint --vpc-endpoint-id ${bypassed[0].endpoint.VpcEndpointId} --add-route-table-ids ${bypassed[0].tables.map((table) => table.RouteTableId).join(' ')}`
              : `Undo ${call?.name} in the code of ${call?.actor}: aws ec2 describe-vpc-endpoints`,
          ),
        ],
      },
    ];
  },
});

interface Jump {
  series: ReturnType<ClusterFacts['cloudWatch']>[number];
  metric: string;
  factor: number;
  at: string;
}

const jumpOf = (facts: ClusterFacts): Jump | undefined =>
  byteMetrics
    .flatMap((metric) => facts.cloudWatch('AWS/NATGateway', metric))
    .flatMap((series): Jump[] => {
      const quarter = Math.max(1, Math.floor(series.points.length / 4));
      const base = mean(series.points.slice(0, quarter).map(([, value]) => value));
      const factor = mean(series.points.slice(-quarter).map(([, value]) => value)) / Math.max(1, base);
      const at = series.points.find(([, value]) => value > base * jumpFactor)?.[0];
      return factor > jumpFactor && at ? [{ series, metric: series.metric, factor, at }] : [];
    })
    .sort((a, b) => b.factor - a.factor)[0];

/** A metric's period may begin hours before its point: hourly sums, or every fourth hour of them. */
const isAtJump = (at: string, jump: string): boolean => {
  const minutes = minutesBetween(at, jump);
  return minutes >= -60 && minutes <= beforeJumpMinutes + 60;
};

const received = (facts: ClusterFacts) => facts.seriesLike(/^container_network_receive_bytes(?!.*total$)/);

const podsMoveMore = (facts: ClusterFacts): boolean => received(facts).some((series) => growth(series) > jumpFactor);

interface Bypassed {
  endpoint: any;
  tables: any[];
}

/** Gateway endpoints that none of the tables with a default route to a NAT gateway leads to. */
const bypassedEndpoints = (facts: ClusterFacts): Bypassed[] => {
  const tables = ((facts.cloud('ec2.describeRouteTables')?.RouteTables ?? []) as any[]).filter((table) =>
    (table.Routes ?? []).some((route: any) => route.DestinationCidrBlock === '0.0.0.0/0' && route.NatGatewayId),
  );
  return ((facts.cloud('ec2.describeVpcEndpoints')?.VpcEndpoints ?? []) as any[])
    .filter((endpoint) => endpoint.VpcEndpointType === 'Gateway' && tables.length > 0)
    .filter((endpoint) => !tables.some((table) => (endpoint.RouteTableIds ?? []).includes(table.RouteTableId)))
    .map((endpoint) => ({ endpoint, tables }));
};
