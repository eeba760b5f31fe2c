import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { grep, lastWords } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isPending } from '../../facts/pods.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { containerOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Migrations and downloads take minutes; longer than this an init container waits for something. */
const patienceMinutes = 10;
const complaint = /\b(ERROR|FATAL|panic|exception|failed|refused|denied|timed? ?out)\b/i;

export default rule({
  title: 'A pod stays in Init: its init container runs on and waits for a job or a service',
  lookAlikes: [
    'ContainerCreating: nothing of the pod runs yet, so a volume, the network or the image holds it',
    'an init container that ends with an error: a crash',
    'a native sidecar (restartPolicy Always), which is meant to run on',
  ],
  judge(facts, scope) {
    const stuck = scope.troubledPods.flatMap((pod) => {
      const name = waitingInit(facts, pod);
      return name ? [{ pod, name }] : [];
    });
    return groupBy(stuck, ({ pod, name }) => `${nameOf(facts.workloadOf(pod))}/${name}`).map((group) =>
      findingOf(
        facts,
        group.map(({ pod }) => pod),
        group[0]!.name,
      ),
    );
  },
});

const waitingInit = (facts: ClusterFacts, pod: KubeObject): string | undefined => {
  if (!isPending(pod)) return undefined;
  const sidecars = (pod.spec?.initContainers ?? [])
    .filter((container: any) => container.restartPolicy === 'Always')
    .map((container: any) => container.name);
  return (pod.status?.initContainerStatuses ?? []).find(
    (status: any) =>
      !sidecars.includes(status.name) && minutesBetween(status.state?.running?.startedAt, facts.now) > patienceMinutes,
  )?.name;
};

const findingOf = (facts: ClusterFacts, pods: KubeObject[], name: string): FindingDraft => {
  const pod = pods[0]!;
  const workload = facts.workloadOf(pod);
  const status = pod.status.initContainerStatuses.find((entry: any) => entry.name === name);
  const lines = lastWords(facts, pod, name);
  const told = lines.slice(-1).map((line) => line.text.slice(0, 160))[0];
  const job = awaitedJob(facts, pod, name, lines.map((line) => line.text).join('\n'));
  const failed = job && condition(job, 'Failed');
  const errors = job ? grep(facts, facts.podsOf(job), complaint) : [];
  const owner = job ? ownershipOf(facts, job) : 'undetermined';
  const evidence = cite('app', facts);
  return {
    mechanism: 'rollout',
    explains: ['rollout', 'job', 'unknown-symptom'],
    owner,
    boundary: 'application',
    strength: job && failed?.status === 'True' ? 'direct' : 'derived',
    cause: text(
      `${nameOf(workload)} does not start: init container ${name} has waited for ${duration(minutesBetween(status.state.running.startedAt, facts.now))}${job ? ` for ${nameOf(job)}, which failed (${failed?.reason ?? 'not complete'})` : ''}${errors[0] ? `: “${errors.at(-1)!.text.slice(0, 160)}”` : told ? `; it says “${told}”` : ''}.`,
    ),
    root: refOf(job ?? workload),
    affects: [workload, ...pods].map(refOf),
    onset: job ? (failed?.lastTransitionTime ?? job.metadata.creationTimestamp) : status.state.running.startedAt,
    evidence: [
      evidence.field(pod, `status.initContainerStatuses[${name}].state.running`, status.state.running.startedAt),
      evidence.condition(pod, 'Initialized'),
      ...lines.slice(-2).map((line) => evidence.log(line.log, line.text)),
      ...(job && failed ? [evidence.condition(job, 'Failed')] : []),
      ...errors.slice(-2).map((line) => evidence.log(line.log, line.text)),
    ],
    chain: [...(job ? [link(job, 'failed')] : []), link(pod, `init container ${name} waits`)],
    missing: job
      ? []
      : [
          {
            layer: 'app',
            missing: `what init container ${name} waits for, and why that is not there`,
            fix: `kubectl logs -n ${pod.metadata.namespace} ${pod.metadata.name} -c ${name}; look at the service or job it names`,
          },
        ],
    nextSteps: [
      text(
        job
          ? `Repair what failed: kubectl logs -n ${job.metadata.namespace} job/${job.metadata.name}; or roll back: kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`
          : `kubectl logs -n ${pod.metadata.namespace} ${pod.metadata.name} -c ${name}`,
      ),
    ],
  };
};

/** The failed Job of the namespace that the init container's own words or arguments name. */
const awaitedJob = (facts: ClusterFacts, pod: KubeObject, name: string, log: string): KubeObject | undefined => {
  const { args, command, env } = containerOf(pod, name) ?? {};
  const words = `${JSON.stringify([args, command, env])}\n${log}`;
  return facts
    .in('Job', pod.metadata.namespace ?? '')
    .find((job) => words.includes(job.metadata.name) && condition(job, 'Failed')?.status === 'True');
};
