import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { sleepOf } from '../../facts/workloads/schedules.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'A workload stands at zero because a schedule puts it to sleep outside its hours',
  lookAlikes: ['a workload put to sleep in hours in which its own schedule says it runs', 'somebody scaled it to zero'],
  judge(facts, scope) {
    const services = scope.subjects
      .filter((subject) => subject.kind === 'Service')
      .map((subject) => facts.find('Service', subject.name, subject.namespace))
      .filter((service) => service !== undefined);
    return scope.workloads.flatMap((workload) => {
      const sleep = sleepOf(facts, workload);
      if (!sleep) return [];
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'scaling-limit' as const,
          explains: (['application-error', 'unknown-symptom', 'dependency', 'rollout', 'probe'] as const).slice(),
          state: 'expected' as const,
          owner: 'platform' as const,
          boundary: 'config' as const,
          strength: 'direct' as const,
          cause: text(
            `${nameOf(workload)} stands at 0 replicas because a schedule put it to sleep${sleep.annotation ? ` (${sleep.annotation.key}: ${sleep.annotation.value})` : ''}.`,
          ),
          root: refOf(workload),
          affects: [workload, ...services].map(refOf),
          evidence: [
            evidence.field(workload, 'spec.replicas'),
            ...(sleep.annotation
              ? [evidence.field(workload, 'metadata.annotations', `${sleep.annotation.key}: ${sleep.annotation.value}`)]
              : []),
            ...(sleep.log ? [evidence.log(sleep.log, sleep.line!)] : []),
          ],
          chain: [
            link(workload, 'is put to zero by its schedule'),
            ...services.map((it) => link(it, 'has no endpoints')),
          ],
          nextSteps: [text('Exclude namespaces with opening hours from this alert, or have the alert know the hours.')],
        },
      ];
    });
  },
});
