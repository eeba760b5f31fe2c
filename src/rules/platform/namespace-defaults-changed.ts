import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { templateHistory } from '../../facts/capacity/templates.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { policyOwner } from '../../facts/control-plane/policy-owner.ts';
import { oomKillsOf } from '../../facts/nodes/oom.ts';
import { containersOf, isReady, isUnscheduled } from '../../facts/pods.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { containerOf, templateSpecOf } from '../../facts/workloads/workloads.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A default older than this has had its effect long before. */
const recentMinutes = 7 * 24 * 60;

export default rule({
  title: 'A LimitRange was changed, so that new pods get other requests or limits than their elder siblings',
  lookAlikes: [
    'a template that sets its own resources: no default applies',
    'a rollout after the change: the workload was changed as well',
    'some pods OOMKilled and others Pending at once: one change of defaults does both',
  ],
  judge(facts, scope) {
    return groupBy(scope.troubledPods, (pod) => nameOf(facts.workloadOf(pod))).flatMap((pods) => {
      const workload = facts.workloadOf(pods[0]!);
      return facts
        .in('LimitRange', workload.metadata.namespace ?? '')
        .flatMap((range) => defaultsFinding(facts, workload, pods, range));
    });
  },
});

const defaultsFinding = (
  facts: ClusterFacts,
  workload: KubeObject,
  pods: KubeObject[],
  range: KubeObject,
): FindingDraft[] => {
  const write = lastWriter(range, 'f:limits');
  const at = write?.time ?? range.metadata.creationTimestamp ?? '';
  const born = (pod: KubeObject): string => pod.metadata.creationTimestamp ?? '';
  const hit = pods.filter((pod) => born(pod) >= at && isDefaulted(facts, pod) && suffers(facts, pod));
  const isRecent = minutesBetween(at, facts.now) <= recentMinutes && at > templateHistory(facts, workload).since;
  if (hit.length === 0 || !isRecent) return [];
  const elder = facts.podsOf(workload).find((pod) => born(pod) < at && isReady(pod));
  const sample = hit.find((pod) => oomKillsOf(facts, pod).length > 0) ?? hit[0]!;
  if (elder && given(elder) === given(sample)) return [];
  const { owner, because, strength } = policyOwner(facts, range, workload, 'f:limits');
  const evidence = cite(owner, facts);
  const killed = hit.filter((pod) => oomKillsOf(facts, pod).length > 0);
  const waiting = hit.filter(isUnscheduled);
  return [
    {
      mechanism: 'quota',
      explains: ['oom', 'crash', 'pending', 'scheduling', 'pool-limit', 'throttling', 'rollout', 'unknown-symptom'],
      owner,
      boundary: 'config',
      strength: elder ? strength : 'derived',
      cause: text(
        `${nameOf(range)} was changed ${duration(minutesBetween(at, facts.now))} ago${write?.manager ? ` by ${write.manager}` : ''} (${because}): new pods of ${nameOf(workload)}, whose template sets no resources, get ${given(sample)}${elder ? ` instead of ${given(elder)}` : ''}; ${[killed.length > 0 ? `${killed.length} are OOMKilled` : '', waiting.length > 0 ? `${waiting.length} find no node` : ''].filter(Boolean).join(', ') || `${hit.length} are in trouble`}.`,
      ),
      root: refOf(range),
      affects: [workload, ...hit].map(refOf),
      onset: at,
      evidence: [
        evidence.field(range, 'spec.limits'),
        ...(write ? [evidence.field(range, 'metadata.managedFields', write)] : []),
        ...killed
          .slice(0, 1)
          .flatMap((pod) => oomKillsOf(facts, pod))
          .map((kill) =>
            evidence.field(
              kill.pod,
              `status.containerStatuses[${kill.container}].lastState.terminated`,
              `OOMKilled, exit 137 at ${kill.finishedAt}, ${kill.restarts} restarts`,
            ),
          ),
        ...waiting.slice(0, 1).map((pod) => evidence.condition(pod, 'PodScheduled')),
        evidence.field(sample, 'metadata.annotations', limitRanger(sample) ?? 'no limit-ranger annotation'),
        evidence.field(sample, 'spec.containers', given(sample)),
        ...(elder ? [evidence.field(elder, 'spec.containers', given(elder), `made at ${born(elder)}`)] : []),
      ],
      chain: [
        link(range, `sets defaults since ${at}`),
        ...hit.slice(0, 3).map((pod) => link(pod, `was made with ${given(pod)}`)),
      ],
      contributing:
        owner === 'platform'
          ? [{ owner: 'app', action: text(`State requests and limits in the template of ${nameOf(workload)}.`) }]
          : [],
      nextSteps: [
        text(
          `Restore the defaults: kubectl get limitrange ${range.metadata.name} -n ${range.metadata.namespace} -o yaml; then delete the pods made since ${at}.`,
        ),
      ],
    },
  ];
};

const limitRanger = (pod: KubeObject): string | undefined => pod.metadata.annotations?.['kubernetes.io/limit-ranger'];

/** Admission filled in what the template leaves open. */
const isDefaulted = (facts: ClusterFacts, pod: KubeObject): boolean => {
  const spec = templateSpecOf(facts, pod);
  const open = (container: any): boolean => {
    const template = containerOf({ kind: 'Pod', metadata: { name: '' }, spec }, container.name);
    return template !== undefined && JSON.stringify(template.resources ?? {}) !== JSON.stringify(container.resources);
  };
  return limitRanger(pod) !== undefined || (spec !== undefined && containersOf(pod).some(open));
};

const suffers = (facts: ClusterFacts, pod: KubeObject): boolean =>
  oomKillsOf(facts, pod).length > 0 || isUnscheduled(pod) || !isReady(pod);

const given = (pod: KubeObject): string =>
  (pod.spec?.containers ?? [])
    .map((container: any) => {
      const { requests = {}, limits = {} } = container.resources ?? {};
      return `${container.name}: requests ${words(requests)}, limits ${words(limits)}`;
    })
    .join('; ');

const words = (amounts: Record<string, string>): string =>
  Object.entries(amounts)
    .map(([resource, value]) => `${resource} ${value}`)
    .join(' ') || 'none';
