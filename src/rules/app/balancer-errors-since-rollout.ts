import type { CloudWatchSeries } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { mean } from '../../facts/series.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What a balancer counts when its target closes, refuses or errs. */
const counted: [string, string][] = [
  ['AWS/ApplicationELB', 'HTTPCode_ELB_502_Count'],
  ['AWS/ApplicationELB', 'HTTPCode_ELB_504_Count'],
  ['AWS/ApplicationELB', 'HTTPCode_ELB_5XX_Count'],
  ['AWS/ApplicationELB', 'HTTPCode_Target_5XX_Count'],
  ['AWS/ApplicationELB', 'TargetConnectionErrorCount'],
  ['AWS/NetworkELB', 'TCP_Target_Reset_Count'],
];
const step = 5;
const floor = 1;
/** The step comes with the rollout: pods are replaced over minutes, and figures come per period. */
const earlyMinutes = 10;
const lateMinutes = 30;

export default rule({
  title: 'The load balancer of a workload counts errors since that workload’s own rollout',
  lookAlikes: [
    'another balancer counts errors as well: the vendor or the network',
    'targets are unhealthy: pods or probes',
    'a step with no rollout near it',
  ],
  judge(facts, scope) {
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      const rollout = rolloutBefore(facts, workload, facts.now, 12 * 60);
      const pods = facts.podsOf(workload);
      const balancers = balancersOf(facts, workload);
      if (!rollout?.previous || balancers.length === 0 || !pods.every(isReady)) return [];
      const at = Date.parse(rollout.at);
      const stepped = counted.flatMap(([namespace, metric]) =>
        facts.cloudWatch(namespace, metric).filter((series) => steps(series, at)),
      );
      const own = stepped.filter((series) => balancers.some((name) => dimensionOf(series).includes(`/${name}/`)));
      const changes = templateChanges(rollout.previous, rollout.current);
      if (own.length === 0 || stepped.length > own.length || changes.length === 0) return [];
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      const [first] = own as [CloudWatchSeries];
      return [
        {
          mechanism: 'application-error',
          explains: ['unknown-symptom', 'load'],
          owner,
          boundary: changes.some((change) => change.startsWith('env')) ? 'config' : 'application',
          strength: 'derived',
          cause: text(
            `${first.metric} of the load balancer before ${nameOf(workload)} steps up with its rollout at ${rollout.at} (${changes.slice(0, 3).join('; ')}) while all ${pods.length} pods are ready and no other balancer is hit.`,
          ),
          root: refOf(workload),
          affects: [
            workload,
            ...pods,
            ...pods.slice(0, 1).flatMap((pod) => facts.servicesOf(pod)),
            ...facts.in('Ingress', workload.metadata.namespace ?? ''),
          ].map(refOf),
          onset: rollout.at,
          evidence: [
            ...own
              .slice(0, 2)
              .map((series) =>
                evidence.cloudWatch(series, `stepped up at the rollout, now ${series.points.at(-1)?.[1]}`),
              ),
            evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; ')),
            ...pods.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
          ],
          chain: [link(rollout.current, `rolled out at ${rollout.at}`), link(workload, `${first.metric} stepped up`)],
          contributing: [],
          nextSteps: [
            text(
              `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}; for 502 compare its keep-alive timeout with the idle timeout of the balancer (60 s by default): it must be longer.`,
            ),
          ],
        },
      ];
    });
  },
});

/** Names of the balancers before a workload, as its Ingresses and Services state their host names. */
const balancersOf = (facts: ClusterFacts, workload: KubeObject): string[] => {
  const namespace = workload.metadata.namespace ?? '';
  const services = facts
    .podsOf(workload)
    .slice(0, 1)
    .flatMap((pod) => facts.servicesOf(pod));
  const names = new Set(services.map((service) => service.metadata.name));
  const ingresses = facts
    .in('Ingress', namespace)
    .filter((ingress) =>
      (ingress.spec?.rules ?? []).some((entry: any) =>
        (entry.http?.paths ?? []).some((path: any) => names.has(path.backend?.service?.name)),
      ),
    );
  return [...services, ...ingresses]
    .flatMap((object) => object.status?.loadBalancer?.ingress ?? [])
    .map((entry: any) =>
      String(entry.hostname ?? '')
        .split('.')[0]!
        .replace(/-\d{6,}$/, '')
        .replace(/^internal-/, ''),
    )
    .filter(Boolean);
};

const dimensionOf = (series: CloudWatchSeries): string => `/${series.dimensions.LoadBalancer ?? ''}/`;

const steps = (series: CloudWatchSeries, at: number): boolean => {
  const values = (from: number, to: number) =>
    series.points.filter(([time]) => Date.parse(time) >= from && Date.parse(time) < to).map(([, value]) => value);
  const before = values(-Infinity, at - earlyMinutes * 60_000);
  const after = values(at + lateMinutes * 60_000, Infinity);
  return before.length > 1 && after.length > 0 && mean(after) > step * Math.max(mean(before), floor);
};
