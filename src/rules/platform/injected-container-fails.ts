import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { type LastChange, lastChangeOf } from '../../facts/changes/last-change.ts';
import { troubledSince } from '../../facts/changes/trouble-since.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { backendOf, covers, webhooksOf } from '../../facts/control-plane/webhooks.ts';
import { lastWords } from '../../facts/logs/pod-logs.ts';
import { isPlatformNamespace } from '../../facts/ownership.ts';
import { type ContainerStatus, containerStatuses, isReady } from '../../facts/pods.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { containerOf, containerPath, isInjected, templateSpecOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A change of the injector older than this has been lived with. */
const recentMinutes = 24 * 60;
/** A container may take this long to start. */
const startMinutes = 3;
/** Annotations by which a workload sets up what is injected into it. */
const configures =
  /^(?:sidecar\.istio\.io\/(?!inject$|status$)|proxy\.istio\.io\/|config\.(?:linkerd|alpha\.linkerd)\.io\/|vault\.hashicorp\.com\/|dapr\.io\/|consul\.hashicorp\.com\/|instrumentation\.opentelemetry\.io\/)/;

export default rule({
  title: 'A container that admission injected fails in pods of several workloads: the injector’s, not theirs',
  lookAlikes: [
    'a sidecar that the template itself states: the workload’s own',
    'one workload that sets its sidecar up by annotations: its own setting',
    'an injected container that waits for the main one, or dies with it',
  ],
  judge(facts, scope) {
    const failing = facts.all('Pod').flatMap((pod) => failingIn(facts, pod));
    return groupBy(failing, ({ status }) => status.name)
      .filter((group) => group.some(({ pod }) => scope.has(refOf(pod))))
      .flatMap((group) => injectedFinding(facts, group));
  },
});

interface Failing {
  pod: KubeObject;
  status: ContainerStatus;
}

/** Injected containers that fail while those of the template do not. */
const failingIn = (facts: ClusterFacts, pod: KubeObject): Failing[] => {
  if (isReady(pod) || !(minutesBetween(pod.metadata.creationTimestamp, facts.now) > startMinutes)) return [];
  const failing = containerStatuses(pod).filter((status) => fails(pod, status));
  const injected = failing.filter((status) => isInjected(facts, pod, status.name));
  return injected.length === failing.length ? injected.map((status) => ({ pod, status })) : [];
};

const fails = (pod: KubeObject, { state, lastState, ready, name }: ContainerStatus): boolean => {
  if (/BackOff|Err|Invalid/.test(state?.waiting?.reason ?? '')) return true;
  if (state?.terminated) return state.terminated.exitCode !== 0;
  const isInit = (pod.spec?.initContainers ?? []).some((container: any) => container.name === name);
  return Boolean(state?.running) && ((!isInit && ready === false) || (lastState?.terminated?.exitCode ?? 0) !== 0);
};

const injectedFinding = (facts: ClusterFacts, group: Failing[]): FindingDraft[] => {
  const { pod, status } = group[0]!;
  const name = status.name;
  const workloads = [
    ...new Map(group.map((entry) => [nameOf(facts.workloadOf(entry.pod)), facts.workloadOf(entry.pod)])).values(),
  ];
  const namespaces = new Set(group.map((entry) => entry.pod.metadata.namespace));
  const image: string = containerOf(pod, name)?.image ?? status.image ?? '';
  const ready = facts
    .all('Pod')
    .filter((other) => isReady(other) && containerOf(other, name) && isInjected(facts, other, name));
  const elders = ready.filter((other) => containerOf(other, name).image !== image);
  const alike = ready.filter((other) => containerOf(other, name).image === image);
  const spread = workloads.length >= 2;
  if (!spread && (elders.length === 0 || configured(facts, pod))) return [];
  // The same image works elsewhere: what fails is not the image.
  const strength: Strength = spread && alike.length === 0 ? 'direct' : 'derived';
  if (!spread && alike.length > 0) return [];
  const since = earliest(...group.map((entry) => troubledSince(facts, entry.pod))) ?? facts.now;
  const change = injectorChange(facts, pod, since);
  const evidence = cite('platform', facts);
  const words = lastWords(facts, pod, name, 2);
  const was = elders[0] && containerOf(elders[0], name)?.image;
  return [
    {
      mechanism: 'crash',
      explains: [
        'crash',
        'probe',
        'rollout',
        'application-error',
        'dependency',
        'oom',
        'job',
        'image-pull',
        'unknown-symptom',
      ],
      owner: 'platform',
      boundary: 'config',
      strength,
      cause: text(
        `Container ${name} (${image}), which no template states and admission injects, fails in ${group.length} pods of ${workloads.length} workloads in ${namespaces.size} namespaces${was ? `; pods with ${was} are ready` : ''}${change ? `; ${nameOf(change.object)} was changed ${duration(Math.max(0, minutesBetween(change.at, since)))} before${change.what[0] ? ` (${change.what[0]})` : ''}` : ''}.`,
      ),
      root: change ? refOf(change.object) : { kind: 'Container', name },
      affects: [...workloads, ...group.map((entry) => entry.pod)].map(refOf),
      // A release that made the pods is older than they are, and did no more than have them injected anew.
      onset: change?.at,
      evidence: [
        ...group
          .slice(0, 3)
          .map((entry) =>
            evidence.field(
              entry.pod,
              `status.containerStatuses[${name}]`,
              JSON.stringify(entry.status.state ?? {}),
              entry.status.state?.waiting?.message ?? `${entry.status.restartCount ?? 0} restarts`,
            ),
          ),
        evidence.field(
          pod,
          containerPath(pod, name, 'image'),
          image,
          `not in the template of ${nameOf(workloads[0]!)}`,
        ),
        ...(elders[0] ? [evidence.field(elders[0], containerPath(elders[0], name, 'image'), was, 'ready')] : []),
        ...words.map((line) => evidence.log(line.log, line.text)),
        ...(change?.revision
          ? [evidence.field(change.revision, 'metadata.creationTimestamp', change.at, change.what.join('; '))]
          : []),
        ...(change && !change.revision
          ? [
              evidence.field(change.object, 'metadata.managedFields', {
                manager: change.write?.manager,
                time: change.at,
              }),
            ]
          : []),
      ],
      chain: [
        ...(change ? [link(change.object, `changed at ${change.at}`)] : []),
        ...workloads.slice(0, 3).map((workload) => link(workload, `container ${name} fails in its pods`)),
      ],
      nextSteps: [
        text(
          change?.undo
            ? `Take the injector's change back: ${change.undo}; then delete the pods that fail, so that they are injected anew.`
            : `Set the injector back to ${was ?? 'the former image'} of ${name}, then delete the pods that fail, so that they are injected anew: kubectl get mutatingwebhookconfigurations`,
        ),
      ],
    },
  ];
};

const configured = (facts: ClusterFacts, pod: KubeObject): boolean => {
  const template = facts.ownerChain(pod).find((object) => object.spec?.template)?.spec.template;
  return (
    templateSpecOf(facts, pod) !== undefined &&
    Object.keys(template?.metadata?.annotations ?? {}).some((key) => configures.test(key))
  );
};

/** What injects pods of this namespace and was changed before the trouble: a webhook's workload, or its configuration. */
const injectorChange = (facts: ClusterFacts, pod: KubeObject, since: string): LastChange | undefined =>
  webhooksOf(facts)
    .filter(({ configuration }) => configuration.kind === 'MutatingWebhookConfiguration')
    .filter((webhook) => covers(webhook, '', 'pods'))
    .flatMap(({ configuration, entry }) => {
      const service = entry.clientConfig?.service;
      const workload = backendOf(facts, service)?.workload;
      return [workload, configuration].flatMap((object) => (object && lastChangeOf(facts, object)) ?? []);
    })
    .filter((change) => {
      const minutes = minutesBetween(change.at, since);
      const home = change.object.metadata.namespace;
      return (
        minutes >= -2 &&
        minutes <= recentMinutes &&
        (home === undefined || isPlatformNamespace(home) || home !== pod.metadata.namespace)
      );
    })
    .sort((a, b) => (a.at < b.at ? 1 : -1))[0];
