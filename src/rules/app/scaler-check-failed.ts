import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const failing = /^(KEDAScalerFailed|ScaledObjectCheckFailed|ScaledJobCheckFailed|KEDAMetricSourceFailed)$/;

export default rule({
  title: 'KEDA cannot read what a ScaledObject should scale on',
  lookAlikes: [
    'the KEDA operator or its metrics API is down: every ScaledObject fails',
    'a wrong trigger of one ScaledObject',
  ],
  judge(facts, scope) {
    return facts
      .all('ScaledObject')
      .filter(
        (scaler) =>
          !scope.wide && (scope.has(refOf(scaler)) || scope.workloads.some((workload) => scales(scaler, workload))),
      )
      .flatMap((scaler): FindingDraft[] => {
        const events = failures(facts, scaler);
        const ready = condition(scaler, 'Ready');
        const words = events.at(-1)?.message ?? (ready?.status === 'False' ? ready.message : '');
        if (!words) return [];
        const others = facts
          .all('ScaledObject')
          .filter(
            (other) => other.metadata.namespace !== scaler.metadata.namespace && failures(facts, other).length > 0,
          );
        const operator = facts.all('Pod').filter((pod) => /^keda-(operator|metrics)/.test(pod.metadata.name));
        const shared = others.length > 0 || (operator.length > 0 && !operator.some(isReady));
        const owner = shared ? 'platform' : ownershipOf(facts, scaler);
        const evidence = cite(owner, facts);
        const target = facts.find('Deployment', scaler.spec?.scaleTargetRef?.name, scaler.metadata.namespace);
        return [
          {
            mechanism: 'scaling-metrics',
            explains: ['load', 'application-error', 'throttling', 'unknown-symptom'],
            owner,
            boundary: 'autoscaling',
            strength: 'derived',
            cause: text(
              `${nameOf(scaler)} cannot read its trigger: ${words.slice(0, 200)}${shared ? `; ${others.length} more of other namespaces fail alike` : ''}.`,
            ),
            root: refOf(scaler),
            affects: [scaler, ...(target ? [target, ...facts.podsOf(target)] : [])].map(refOf),
            onset: events[0]?.firstAt ?? ready?.lastTransitionTime,
            evidence: [
              ...events.slice(-2).map((event) => evidence.event(event)),
              evidence.condition(scaler, 'Ready'),
              evidence.field(scaler, 'spec.triggers'),
            ],
            chain: [link(scaler, 'cannot read its trigger'), ...(target ? [link(target, 'keeps its replicas')] : [])],
            contributing: [],
            nextSteps: [
              text(
                `kubectl describe scaledobject ${scaler.metadata.name} -n ${scaler.metadata.namespace}; check address, query and TriggerAuthentication of the trigger.`,
              ),
            ],
          },
        ];
      });
  },
});

const scales = (scaler: KubeObject, workload: KubeObject): boolean =>
  scaler.metadata.namespace === workload.metadata.namespace &&
  scaler.spec?.scaleTargetRef?.name === workload.metadata.name;

const failures = (facts: ClusterFacts, scaler: KubeObject) =>
  facts
    .eventsAbout(scaler)
    .filter((event) => failing.test(event.reason) && minutesBetween(event.lastAt, facts.now) < 60);
