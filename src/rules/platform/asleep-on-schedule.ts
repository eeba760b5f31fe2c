import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { authorOf, citeChange, lastChangeOf } from '../../facts/changes/last-change.ts';
import { cite } from '../../facts/cite.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { sleeperOf, sleepOf } from '../../facts/workloads/schedules.ts';
import { rule } from '../../triage/rule.ts';

/** A tool changed within its last day has not put anything to sleep by its new hours before. */
const firstNightMinutes = 24 * 60;

export default rule({
  title: 'A workload stands at zero because a schedule puts it to sleep outside its hours',
  lookAlikes: [
    'a workload put to sleep in hours in which its own schedule says it runs',
    'somebody scaled it to zero',
    'the tool itself was changed since the last day: its new hours or exclusions are a fault until proved wanted',
  ],
  judge(facts, scope) {
    const services = scope.subjects
      .filter((subject) => subject.kind === 'Service')
      .map((subject) => facts.find('Service', subject.name, subject.namespace))
      .filter((service) => service !== undefined);
    return scope.workloads.flatMap((workload) => {
      const sleep = sleepOf(facts, workload);
      if (!sleep) return [];
      const tool = sleeperOf(facts, sleep);
      const last = tool && lastChangeOf(facts, tool);
      const change =
        last?.what.some((what) => !what.startsWith('image ')) && minutesBetween(last.at, facts.now) < firstNightMinutes
          ? last
          : undefined;
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'scaling-limit' as const,
          explains: (['application-error', 'unknown-symptom', 'dependency', 'rollout', 'probe'] as const).slice(),
          state: change ? ('fault' as const) : ('expected' as const),
          owner:
            change && tool!.metadata.namespace === workload.metadata.namespace
              ? ownershipOf(facts, tool!)
              : ('platform' as const),
          boundary: 'config' as const,
          strength: 'direct' as const,
          cause: text(
            `${nameOf(workload)} stands at 0 replicas because a schedule put it to sleep${sleep.annotation ? ` (${sleep.annotation.key}: ${sleep.annotation.value})` : ''}${change ? `; ${nameOf(tool!)} had been changed at ${change.at} ${authorOf(change)} (${change.what.slice(0, 3).join('; ')}), and these are the first hours under the new rule` : ''}.`,
          ),
          root: refOf(change ? tool! : workload),
          ...(change ? { onset: change.at } : {}),
          affects: [workload, ...services].map(refOf),
          evidence: [
            evidence.field(workload, 'spec.replicas'),
            ...(sleep.annotation
              ? [evidence.field(workload, 'metadata.annotations', `${sleep.annotation.key}: ${sleep.annotation.value}`)]
              : []),
            ...(sleep.log ? [evidence.log(sleep.log, sleep.line!)] : []),
            ...(change ? citeChange(evidence, change, 'the tool’s last change') : []),
          ],
          chain: [
            ...(change ? [link(tool!, `was changed at ${change.at}`)] : []),
            link(workload, 'is put to zero by its schedule'),
            ...services.map((it) => link(it, 'has no endpoints')),
          ],
          nextSteps: change
            ? [
                text(
                  `kubectl scale ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace} --replicas=<what its annotation keeps>, and take the change of ${nameOf(tool!)} back${change.undo ? `: ${change.undo}` : ''}`,
                ),
              ]
            : [text('Exclude namespaces with opening hours from this alert, or have the alert know the hours.')],
        },
      ];
    });
  },
});
