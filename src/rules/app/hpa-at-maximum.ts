import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { autoscalersOf, shareOfTarget, targetOf } from '../../facts/capacity/autoscalers.ts';
import { trafficGrowth } from '../../facts/capacity/growth.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isPending } from '../../facts/pods.ts';
import { addMinutes } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

export default rule({
  title: 'An autoscaler is at its own maxReplicas and would need more, while nodes take every replica it has',
  lookAlikes: [
    'replicas that are Pending: the ceiling is capacity, not maxReplicas',
    'at maxReplicas with usage at or below target: nothing is short',
    'a leak that drives the metric: the leak is the cause',
  ],
  judge(facts, scope) {
    return autoscalersOf(facts, scope).flatMap((hpa): FindingDraft[] => {
      const limited = condition(hpa, 'ScalingLimited');
      const max = hpa.spec?.maxReplicas;
      const current = hpa.status?.currentReplicas ?? 0;
      const target = targetOf(facts, hpa);
      const pods = target ? facts.podsOf(target) : [];
      const capped = limited?.status === 'True' && limited.reason === 'TooManyReplicas';
      if (!target || !(capped || current >= max) || current < max || pods.some(isPending)) return [];
      const share = Math.max(0, ...shareOfTarget(hpa));
      const starving = share > 1.05 || (share === 0 && capped);
      const owner = ownershipOf(facts, target);
      const evidence = cite(owner, facts);
      const traffic = trafficGrowth(facts, target);
      const usage = share > 0 ? `${Math.round(share * 100)}% of its target` : 'more than its target';
      return [
        {
          mechanism: 'scaling-limit',
          explains: ['application-error', 'probe', 'throttling', 'load', 'unknown-symptom'],
          state: starving ? 'fault' : 'expected',
          owner: starving ? owner : 'undetermined',
          boundary: 'autoscaling',
          strength: capped && starving ? 'direct' : 'derived',
          cause: text(
            starving
              ? `${nameOf(hpa)} may not go beyond maxReplicas ${max} although ${nameOf(target)} uses ${usage}${traffic && traffic.factor > 1.3 ? ` and its requests grew ${traffic.factor.toFixed(1)}-fold` : ''}; all ${pods.length} replicas are placed, so nodes are not the limit.`
              : `${nameOf(hpa)} stands at maxReplicas ${max} with usage at ${Math.round(share * 100)}% of its target: enough for the present load.`,
          ),
          root: refOf(hpa),
          affects: [hpa, target, ...pods].map(refOf),
          onset: limited?.lastTransitionTime,
          evidence: [
            evidence.condition(hpa, 'ScalingLimited'),
            evidence.field(hpa, 'spec.maxReplicas'),
            evidence.field(hpa, 'status.currentMetrics'),
            ...(traffic ? [evidence.series(traffic.series, `requests per second × ${traffic.factor.toFixed(2)}`)] : []),
          ],
          chain: [link(hpa, `capped at ${max}`), link(target, `uses ${usage}`)],
          contributing: [],
          nextSteps: [
            text(
              `Raise maxReplicas of ${nameOf(hpa)} (kubectl edit hpa ${hpa.metadata.name} -n ${hpa.metadata.namespace}), or make each replica do more; check quota and databases first.`,
            ),
          ],
          ...(starving ? {} : { deadline: addMinutes(facts.now, 60) }),
        },
      ];
    });
  },
});
