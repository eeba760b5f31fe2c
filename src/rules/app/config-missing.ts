import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses, isReady } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** `object "ns"/"x" not registered` is a harmless race of the kubelet and stands here for nothing. */
const missing =
  /(configmap|secret) "([^"]+)" not found|couldn't find key (\S+) in (ConfigMap|Secret) (\S+)|references non-existent (config|secret) key: (\S+)|(?:environment variable|env var) "?([\w.]+)"? (?:not found|invalid)|failed to sync (configmap|secret) cache|failed to get secretproviderclass \S+, error: .*not found|SecretProviderClass\S* "[^"]+" not found/i;

interface Sighting {
  pod: KubeObject;
  message: string;
  event?: KubeEvent;
}

export default rule({
  title: 'Containers are not created because a ConfigMap, Secret or key that the pod names does not exist',
  lookAlikes: [
    'a Secret that a controller of the platform should have written in several namespaces',
    'a mount that waits for a volume driver',
  ],
  judge(facts, scope) {
    const sightings = scope.troubledPods.flatMap((pod) => sightingsOf(facts, pod));
    return groupBy(
      sightings,
      (entry) => `${nameOf(facts.workloadOf(entry.pod))}/${missing.exec(entry.message)![0]}`,
    ).map((group) => missingFinding(facts, group));
  },
});

const sightingsOf = (facts: ClusterFacts, pod: KubeObject): Sighting[] => {
  if (isReady(pod)) return [];
  const states = containerStatuses(pod)
    .map((status) => status.state?.waiting)
    .filter((waiting) => waiting?.reason === 'CreateContainerConfigError' && missing.test(waiting.message ?? ''))
    .map((waiting) => ({ pod, message: waiting.message as string }));
  const events = facts
    .eventsAbout(pod)
    .filter(
      (event) =>
        /^(FailedMount|Failed)$/.test(event.reason) &&
        missing.test(event.message) &&
        minutesBetween(event.lastAt, facts.now) < 60,
    )
    .map((event) => ({ pod, message: event.message, event }));
  return [...states, ...events];
};

const missingFinding = (facts: ClusterFacts, group: Sighting[]): FindingDraft => {
  const entry = group[0]!;
  const match = missing.exec(entry.message)!;
  const workload = facts.workloadOf(entry.pod);
  const what = match[0].replace(/\s+/g, ' ');
  const kind = (match[1] ?? match[4] ?? match[6] ?? match[9] ?? '').toLowerCase();
  const elsewhere = facts
    .all('Pod')
    .filter((pod) => pod.metadata.namespace !== entry.pod.metadata.namespace && sightingsOf(facts, pod).length > 0);
  const namespaces = new Set(elsewhere.map((pod) => pod.metadata.namespace));
  // The root CA bundle is written by the control plane into every namespace.
  const shared = (namespaces.size > 0 && kind.startsWith('secret')) || /kube-root-ca\.crt/.test(what);
  const rollout = rolloutOf(facts, workload);
  const changes = rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [];
  const fresh = rollout && minutesBetween(rollout.at, facts.now) < 24 * 60 ? rollout : undefined;
  const owner = shared ? 'platform' : ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  return {
    mechanism: 'config-missing',
    explains: ['crash', 'probe', 'rollout', 'job', 'unknown-symptom', 'application-error'],
    owner,
    boundary: 'config',
    strength: shared ? 'derived' : 'direct',
    cause: text(
      `Pods of ${nameOf(workload)} cannot start: ${what}${fresh ? `; the template is of ${fresh.at}${changes[0] ? ` (${changes[0]})` : ''}` : ''}${shared ? `; ${namespaces.size} more namespaces lack such a Secret, so what should write them is at fault` : ''}.`,
    ),
    root: refOf(workload),
    affects: [workload, ...group.map((item) => item.pod)].map(refOf),
    onset: earliest(fresh?.at, ...group.map((item) => item.event?.firstAt)),
    evidence: [
      ...group
        .slice(0, 2)
        .map((item) =>
          item.event
            ? evidence.event(item.event)
            : evidence.field(
                item.pod,
                'status.containerStatuses[].state.waiting',
                'CreateContainerConfigError',
                item.message,
              ),
        ),
      ...(fresh ? [evidence.field(fresh.current, 'metadata.creationTimestamp', fresh.at, changes.join('; '))] : []),
    ],
    chain: [
      link(workload, `names what does not exist: ${what}`),
      ...group.slice(0, 3).map((item) => link(item.pod, 'container not created')),
    ],
    contributing: [],
    nextSteps: [
      text(
        `kubectl get ${kind.startsWith('config') ? 'configmap' : 'secret'} -n ${workload.metadata.namespace}; create what is missing, or correct the reference in the template.`,
      ),
      ...(fresh?.previous
        ? [
            text(
              `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
            ),
          ]
        : []),
    ],
  };
};
