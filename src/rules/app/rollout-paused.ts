import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

export default rule({
  title: 'A rollout stands still because somebody paused it: the new template reaches no pod, or only some',
  lookAlikes: [
    'a rollout whose new pods do not get ready: not paused',
    'a paused Deployment whose pods all have the current template: nothing is held back',
    'a canary tool that pauses between its steps: its own object says so',
  ],
  judge(facts, scope) {
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      if (!/^(Deployment|Rollout)$/.test(workload.kind) || workload.spec?.paused !== true) return [];
      const desired = workload.spec.replicas ?? 1;
      const updated = workload.status?.updatedReplicas ?? 0;
      const unseen =
        (workload.metadata.generation ?? 0) > (workload.status?.observedGeneration ?? Number.POSITIVE_INFINITY);
      if (updated >= desired && !unseen) return [];
      const owner = ownershipOf(facts, workload);
      const writer = lastWriter(workload, 'f:paused');
      const progressing = condition(workload, 'Progressing');
      const evidence = cite(owner, facts);
      const tool = Object.keys({ ...workload.metadata.annotations, ...workload.metadata.labels }).find((key) =>
        /flagger|argo-rollouts|keptn|spinnaker/i.test(key),
      );
      return [
        {
          mechanism: 'rollout',
          explains: ['unknown-symptom'],
          owner,
          boundary: 'config',
          strength: tool ? 'circumstantial' : 'direct',
          cause: text(
            `The rollout of ${nameOf(workload)} is paused${writer ? ` (spec.paused last written at ${writer.time} by ${writer.manager})` : ''}: ${updated} of ${desired} replicas have the current template.`,
          ),
          root: refOf(workload),
          affects: [workload, ...facts.podsOf(workload)].map(refOf),
          onset: writer?.time ?? progressing?.lastTransitionTime,
          evidence: [
            evidence.field(workload, 'spec.paused'),
            evidence.field(workload, 'status.updatedReplicas', `${updated} of ${desired}`),
            ...(progressing ? [evidence.condition(workload, 'Progressing')] : []),
          ],
          chain: [link(workload, 'paused')],
          nextSteps: [
            text(
              `kubectl -n ${workload.metadata.namespace} rollout resume ${workload.kind.toLowerCase()}/${workload.metadata.name}, once whoever paused it agrees.`,
            ),
          ],
        },
      ];
    });
  },
});
