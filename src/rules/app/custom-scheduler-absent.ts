import { refOf } from '../../domain/kubernetes.ts';
import { shellWord } from '../../domain/shell.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, isUnscheduled, waitingReason } from '../../facts/pods.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A scheduler looks at a pod within seconds. */
const patienceMinutes = 2;

export default rule({
  title: 'Pods name a scheduler that does not run: nobody ever looks at them',
  lookAlikes: ['the default scheduler is silent: the control plane', 'pods held by a scheduling gate'],
  judge(facts, scope) {
    const unseen = scope.troubledPods.filter(
      (pod) =>
        isUnscheduled(pod) &&
        (pod.spec?.schedulerName ?? 'default-scheduler') !== 'default-scheduler' &&
        !condition(pod, 'PodScheduled') &&
        !(pod.spec?.schedulingGates?.length > 0) &&
        minutesBetween(pod.metadata.creationTimestamp, facts.now) > patienceMinutes,
    );
    return groupBy(unseen, (pod) => pod.spec.schedulerName).map((pods) => {
      const name: string = pods[0]!.spec.schedulerName;
      const schedulers = facts
        .all('Pod')
        .filter((pod) => pod.metadata.name.startsWith(name) && pod.metadata.namespace !== pods[0]!.metadata.namespace);
      const broken = schedulers.find((pod) => !isReady(pod));
      const owner = broken ? ownershipOf(facts, broken) : ownershipOf(facts, pods[0]!);
      const evidence = cite(owner, facts);
      const workload = facts.workloadOf(pods[0]!);
      return {
        mechanism: 'scheduling' as const,
        explains: ['pending' as const, 'rollout' as const, 'unknown-symptom' as const],
        owner,
        boundary: 'scheduling' as const,
        strength: broken || schedulers.length === 0 ? ('derived' as const) : ('circumstantial' as const),
        cause: text(
          `${pods.length} pods of ${workload.kind} ${workload.metadata.namespace}/${workload.metadata.name} ask for scheduler "${name}", ${broken ? `whose pod ${broken.metadata.name} is not ready (${waitingReason(broken) ?? 'unready'})` : schedulers.length === 0 ? 'which nothing in the cluster runs' : 'which has not looked at them'}.`,
        ),
        root: refOf(broken ? facts.workloadOf(broken) : workload),
        affects: pods.flatMap((pod) => facts.ownerChain(pod).map(refOf)),
        onset: earliest(...pods.map((pod) => pod.metadata.creationTimestamp)),
        evidence: [
          evidence.field(pods[0]!, 'spec.schedulerName'),
          evidence.condition(pods[0]!, 'PodScheduled'),
          ...(broken
            ? [evidence.condition(broken, 'Ready')]
            : [
                evidence.absence(
                  `pods of ${name}`,
                  `cluster ${facts.identity.name}`,
                  `kubectl get pods -A | grep ${shellWord(name)}`,
                ),
              ]),
        ],
        chain: [
          ...(broken ? [link(broken, 'not ready')] : []),
          link(pods[0]!, `unseen for ${duration(minutesBetween(pods[0]!.metadata.creationTimestamp, facts.now))}`),
        ],
        nextSteps: [
          text(
            broken
              ? `Bring ${name} back: kubectl -n ${broken.metadata.namespace} logs ${broken.metadata.name}`
              : `Correct spec.schedulerName of ${workload.metadata.name}, or install ${name}.`,
          ),
        ],
      };
    });
  },
});
