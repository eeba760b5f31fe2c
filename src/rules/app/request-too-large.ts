import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { lastChangeOf } from '../../facts/changes/last-change.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, loggedPods, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { podsBehind } from '../../facts/network/mesh.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** ingress-nginx on a body beyond `proxy-body-size`, and on headers beyond its buffers. */
const tooLarge =
  /client intended to send too large (?:chunked )?body|client sent too (?:large|long) (?:header|URI)|upstream sent too big header/i;
/** Annotations of an Ingress that set these limits. */
const limit =
  /proxy-body-size|client-body-buffer-size|proxy-buffer-size|client-max-body-size|large-client-header-buffers/;
const recentMinutes = 24 * 60;

export default rule({
  title: 'An entry controller refuses requests that are larger than the Ingress allows',
  lookAlikes: [
    'the controller’s own limit was lowered for everybody a short while ago: the platform',
    'a 413 that the application itself answers: no line of the controller says so',
  ],
  judge(facts, scope) {
    if (scope.wide) return [];
    const lines = loggedPods(facts)
      .filter((pod) => !scope.has(refOf(pod)))
      .flatMap((pod) => grep(facts, [pod], tooLarge));
    return facts.all('Ingress').flatMap((ingress): FindingDraft[] => {
      const backends = backendsOf(facts, ingress);
      if (!scope.has(refOf(ingress)) && !backends.some((object) => scope.has(refOf(object)))) return [];
      const hosts = ((ingress.spec?.rules ?? []) as any[]).map((entry) => entry.host).filter(Boolean);
      const own = lines.filter((line) =>
        hosts.some((host) => line.text.includes(`"${host}"`) || line.text.includes(`server: ${host},`)),
      );
      return own.length > 0 ? [refusal(facts, ingress, backends, own)] : [];
    });
  },
});

const backendsOf = (facts: ClusterFacts, ingress: KubeObject): KubeObject[] => {
  const services = ((ingress.spec?.rules ?? []) as any[])
    .flatMap((entry) => (entry.http?.paths ?? []) as any[])
    .flatMap((path) => facts.find('Service', path.backend?.service?.name, ingress.metadata.namespace) ?? []);
  const pods = services.flatMap((service) => podsBehind(facts, service));
  return [...new Set([...services, ...pods, ...pods.map((pod) => facts.workloadOf(pod))])];
};

/** The controller's own settings, where they were written lately. */
const loweredBy = (facts: ClusterFacts, line: PodLogLine) => {
  const pod = facts.find('Pod', line.log.pod, line.log.namespace);
  const candidates = [
    ...(pod ? [facts.workloadOf(pod)] : []),
    ...facts.in('ConfigMap', line.log.namespace).filter((map) => limit.test(Object.keys(map.data ?? {}).join(' '))),
  ];
  return candidates
    .map((object) => lastChangeOf(facts, object))
    .find((change) => change && minutesBetween(change.at, facts.now) < recentMinutes);
};

const refusal = (
  facts: ClusterFacts,
  ingress: KubeObject,
  backends: KubeObject[],
  lines: PodLogLine[],
): FindingDraft => {
  const line = lines.at(-1)!;
  const set = Object.entries(ingress.metadata.annotations ?? {}).find(([key]) => limit.test(key));
  const lowered = set ? undefined : loweredBy(facts, line);
  const owner = ownershipOf(facts, lowered?.object ?? ingress);
  const evidence = cite(owner, facts);
  const workload = backends.find((object) => /^(Deployment|StatefulSet|DaemonSet)$/.test(object.kind));
  const rollout = workload && rolloutOf(facts, workload);
  const release = rollout?.previous && minutesBetween(rollout.at, facts.now) < recentMinutes ? rollout : undefined;
  const bytes = /body: (\d+) bytes/.exec(line.text)?.[1];
  return {
    mechanism: 'traffic',
    explains: ['application-error', 'dependency', 'unknown-symptom'],
    owner,
    boundary: 'traffic',
    strength: set ? 'direct' : 'derived',
    cause: text(
      `The entry controller refuses requests to ${nameOf(ingress)} as too large${bytes ? ` (${Math.round(Number(bytes) / 1e6)} MB)` : ''}${set ? `: the Ingress allows ${set[1]} (${set[0]})` : lowered ? `: ${nameOf(lowered.object)} was changed at ${lowered.at}` : ': neither the Ingress nor a recent change raises the controller’s default'}${release ? `; ${nameOf(workload!)} was released at ${release.at}` : ''}.`,
    ),
    root: refOf(lowered?.object ?? ingress),
    affects: [ingress, ...backends].map(refOf),
    onset: release?.at ?? lowered?.at ?? lines[0]?.at,
    evidence: [
      evidence.log(line.log, line.text),
      evidence.log(lines[0]!.log, lines[0]!.text),
      ...(set ? [evidence.field(ingress, 'metadata.annotations', `${set[0]}: ${set[1]}`)] : []),
      ...(release ? [evidence.field(release.current, 'metadata.creationTimestamp', release.at)] : []),
    ],
    chain: [
      link(lowered?.object ?? ingress, set ? `allows ${set[1]}` : 'does not allow requests of this size'),
      ...(workload ? [link(workload, 'is sent larger requests')] : []),
    ],
    nextSteps: [
      text(
        lowered
          ? `Take the change of ${nameOf(lowered.object)} back, or set nginx.ingress.kubernetes.io/proxy-body-size on the Ingress.`
          : `kubectl annotate ingress ${ingress.metadata.name} -n ${ingress.metadata.namespace} nginx.ingress.kubernetes.io/proxy-body-size=<what is wanted> --overwrite, or have clients send less.`,
      ),
    ],
  };
};
