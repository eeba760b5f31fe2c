import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { lastValue } from '../../facts/series.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const complaint = /\b(?:ERROR|FATAL|CRITICAL|WARN(?:ING)?|panic|exception|failed|timeout|refused|denied)\b/i;

export default rule({
  title: 'Fallback: what is known of a workload whose trouble no other rule explains, and the read that would split it',
  judge(facts, scope) {
    if (scope.wide) return [];
    return scope.workloads.slice(0, 3).map((workload): FindingDraft => {
      const pods = facts.podsOf(workload);
      const evidence = cite('app', facts);
      const lines = grep(facts, pods, complaint).filter((line) => !line.at || minutesBetween(line.at, facts.now) < 90);
      const warnings = pods.flatMap((pod) =>
        facts
          .eventsAbout(pod)
          .filter((event) => event.type === 'Warning' && minutesBetween(event.lastAt, facts.now) < 60),
      );
      const rollout = rolloutOf(facts, workload);
      const fresh = rollout?.previous && minutesBetween(rollout.at, facts.now) < 6 * 60 ? rollout : undefined;
      const changes = fresh?.previous ? templateChanges(fresh.previous, fresh.current) : [];
      const logs = pods.some((pod) => facts.logsOf(pod).length > 0);
      const stuck = condition(workload, 'Progressing');
      return {
        mechanism: 'unknown-symptom',
        explains: [],
        owner: 'undetermined',
        boundary: null,
        strength: 'circumstantial',
        cause: text(
          `What troubles ${nameOf(workload)} is not in what was read${fresh ? `; it was rolled out at ${fresh.at}${changes[0] ? ` (${changes[0]})` : ''}` : ''}${lines[0] ? `; its log says "${lines.at(-1)!.text.slice(0, 140)}"` : logs ? '; its log shows no complaint' : ''}.`,
        ),
        root: refOf(workload),
        affects: [workload, ...pods].map(refOf),
        evidence: [
          ...lines.slice(-2).map((line) => evidence.log(line.log, line.text)),
          ...warnings.slice(-2).map((event) => evidence.event(event)),
          ...(stuck?.status === 'False' ? [evidence.condition(workload, 'Progressing')] : []),
          ...ownFigures(facts, workload).map((series) => evidence.series(series, `now ${lastValue(series)}`)),
          ...(fresh ? [evidence.field(fresh.current, 'metadata.creationTimestamp', fresh.at, changes.join('; '))] : []),
        ],
        chain: [link(workload, 'troubled; cause open')],
        contributing: [],
        nextSteps: [
          text(
            `kubectl describe ${workload.kind.toLowerCase()} ${workload.metadata.name} -n ${workload.metadata.namespace}; kubectl logs -n ${workload.metadata.namespace} ${workload.kind.toLowerCase()}/${workload.metadata.name} --since=1h`,
          ),
        ],
        missing: [
          ...(logs
            ? []
            : [
                {
                  layer: 'app' as const,
                  missing: `logs of ${nameOf(workload)}`,
                  fix: `grant get on pods/log in namespace ${workload.metadata.namespace}`,
                },
              ]),
          {
            layer: 'app',
            missing: `error rate and latency of ${nameOf(workload)} before and after the onset`,
            fix: 'query its request metrics over the last 6 h',
          },
        ],
      };
    });
  },
});

/** Figures that users feel, of this workload's namespace: what the alert may have been made from. */
const ownFigures = (facts: ClusterFacts, workload: KubeObject): Series[] =>
  facts
    .seriesLike(/^(?!container_|kube_|kubelet_|node_|apiserver_|etcd_|karpenter_|go_|process_)/)
    .filter((series) => series.labels.namespace === workload.metadata.namespace)
    .filter((series) => /latency|duration|seconds|error|fail|ratio|lag|timeout|p9\d/i.test(series.name))
    .slice(0, 2);
