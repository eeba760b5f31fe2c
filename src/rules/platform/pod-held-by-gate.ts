import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'Pods are held back by scheduling gates: no scheduler has looked at them',
  lookAlikes: [
    'a scheduler that is dead: there is no condition at all',
    'a queue that admits in its own order: the gate is its waiting room',
  ],
  judge(facts, scope) {
    const held = scope.troubledPods.filter((pod) => condition(pod, 'PodScheduled')?.reason === 'SchedulingGated');
    if (held.length === 0) return [];
    const gates = [
      ...new Set(held.flatMap((pod) => (pod.spec?.schedulingGates ?? []).map((gate: any) => gate.name as string))),
    ];
    const evidence = cite('platform', facts);
    const first = held[0]!;
    return [
      {
        mechanism: 'scheduling' as const,
        explains: ['pending' as const, 'unknown-symptom' as const],
        owner: 'undetermined' as const,
        boundary: 'scheduling' as const,
        strength: 'circumstantial' as const,
        cause: text(
          `${held.length} pods are held by scheduling gate ${gates.join(', ')} for ${Math.round(minutesBetween(first.metadata.creationTimestamp, facts.now))} min; whoever set the gate must take it off.`,
        ),
        root: refOf(first),
        affects: held.map(refOf),
        onset: first.metadata.creationTimestamp,
        evidence: [evidence.condition(first, 'PodScheduled'), evidence.field(first, 'spec.schedulingGates')],
        chain: held.slice(0, 3).map((pod) => link(pod, `gated by ${gates.join(', ')}`)),
        nextSteps: [
          text(
            `Ask the owner of the gate (${gates.join(', ')}) why ${nameOf(first)} is not admitted: its queue, quota or controller.`,
          ),
        ],
        missing: [
          {
            layer: 'platform' as const,
            missing: `the state of the controller behind gate ${gates.join(', ')}`,
            fix: 'read its queue objects (for Kueue: kubectl get workloads,clusterqueues) and its log',
          },
        ],
      },
    ];
  },
});
