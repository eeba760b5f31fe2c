import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { lastWriter, speaksOfPlatform } from '../../facts/writers.ts';
import { rule } from '../../triage/rule.ts';

/** KEDA's annotations that hold a workload at its size: `paused-replicas` with a number, `paused` and `paused-scale-in/out` with a truth value. */
const pause = /^autoscaling\.keda\.sh\/paused(?:-replicas|-scale-out)?$/;

export default rule({
  title: 'A ScaledObject is paused, so that KEDA leaves its workload at the size it was left with',
  lookAlikes: [
    'a trigger that is not active: nothing waits, and the workload rests at its minimum',
    'a trigger that cannot be read: another rule',
    'a pause that holds as many replicas as the minimum asks for, or more',
  ],
  judge(facts, scope) {
    if (scope.wide) return [];
    return facts.all('ScaledObject').flatMap((scaler) => {
      const mark = pauseOf(scaler);
      const target = targetOf(facts, scaler);
      if (!mark || !target || !(scope.has(refOf(scaler)) || scope.has(refOf(target)))) return [];
      const replicas = target.spec?.replicas ?? 1;
      // Without a minimum KEDA's is zero: a pause at zero then keeps what waits from being served all the same.
      if (replicas > 0 && replicas >= (scaler.spec?.minReplicaCount ?? 0)) return [];
      const writer = lastWriter(scaler, 'f:annotations');
      const owner = speaksOfPlatform(writer?.manager) ? 'platform' : ownershipOf(facts, scaler);
      const evidence = cite(owner, facts);
      const event = facts.eventsAbout(scaler, 'ScaledObjectPaused').at(-1);
      const since = condition(scaler, 'Paused')?.lastTransitionTime ?? event?.firstAt ?? writer?.time;
      const { name, namespace } = scaler.metadata;
      return [
        {
          mechanism: 'scaling-limit' as const,
          explains: ['load' as const, 'application-error' as const, 'unknown-symptom' as const],
          owner,
          boundary: 'autoscaling' as const,
          strength: 'direct' as const,
          cause: text(
            `${nameOf(scaler)} is paused (${mark.key}: ${mark.value})${since ? ` since ${since}` : ''}${writer?.manager ? `, last written by ${writer.manager}` : ''}: ${nameOf(target)} stays at ${replicas} replicas whatever its triggers say.`,
          ),
          root: refOf(scaler),
          affects: [scaler, target, ...facts.podsOf(target)].map(refOf),
          onset: since,
          evidence: [
            evidence.field(scaler, 'metadata.annotations', `${mark.key}: ${mark.value}`),
            ...(condition(scaler, 'Paused') ? [evidence.condition(scaler, 'Paused')] : []),
            ...(event ? [evidence.event(event)] : []),
            ...(writer ? [evidence.field(scaler, 'metadata.managedFields', writer)] : []),
            evidence.field(target, 'spec.replicas', replicas),
          ],
          chain: [link(scaler, 'is paused'), link(target, `stays at ${replicas} replicas`)],
          nextSteps: [
            text(`Ask who paused it and why, then: kubectl annotate scaledobject ${name} -n ${namespace} ${mark.key}-`),
          ],
        },
      ];
    });
  },
});

const pauseOf = (scaler: KubeObject): { key: string; value: string } | undefined => {
  const found = Object.entries(scaler.metadata.annotations ?? {}).find(
    ([key, value]) => pause.test(key) && value !== 'false',
  );
  return found && { key: found[0], value: String(found[1]) };
};

const targetOf = (facts: ClusterFacts, scaler: KubeObject): KubeObject | undefined => {
  const target = scaler.spec?.scaleTargetRef;
  return facts.find(target?.kind ?? 'Deployment', target?.name, scaler.metadata.namespace);
};
