import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, podSpecOf, terminations, waitingReason } from '../../facts/pods.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { failedPulls } from '../../facts/workloads/image-pulls.ts';
import { rule } from '../../triage/rule.ts';

const software = /harbor|registry|nexus|artifactory|quay|zot|gitea|dragonfly|spegel|distribution/i;
const complaint = /no space left|level=(error|fatal)|"level":"(error|fatal)"|panic|refused|denied|timeout/i;

export default rule({
  title: 'Images cannot be pulled because the registry that runs in this cluster is itself down',
  lookAlikes: [
    'a registry of the vendor or a third party',
    'the registry is well and refuses the image or the credential',
  ],
  judge(facts, scope) {
    const all = failedPulls(facts, facts.all('Pod')).filter((pull) =>
      /^(server-error|timeout|other)$/.test(pull.fault),
    );
    const own = all.filter((pull) => scope.has(refOf(pull.pod)));
    return groupBy(own, (pull) => pull.host).flatMap((group) => {
      const host = group[0]!.host;
      const registry = registryBehind(facts, host);
      if (!registry) return [];
      const sick = facts.podsOf(registry).filter((pod) => !isReady(pod));
      const owner = ownershipOf(facts, registry);
      const evidence = cite(owner, facts);
      const lines = grep(facts, sick, complaint).slice(-2);
      const end = sick.flatMap(terminations)[0];
      const claims = sick.flatMap((pod) => claimsOf(pod));
      const space = facts
        .seriesLike(/^kubelet_volume_stats_available_bytes$/)
        .find((series) => claims.includes(series.labels.persistentvolumeclaim ?? '') && lastValue(series) < 1e8);
      return [
        {
          mechanism: 'image-pull' as const,
          explains: [
            'image-pull' as const,
            'rollout' as const,
            'crash' as const,
            'job' as const,
            'unknown-symptom' as const,
          ],
          owner,
          boundary: 'image' as const,
          strength: end || lines.length > 0 ? ('direct' as const) : ('derived' as const),
          cause: text(
            `${nameOf(registry)}, the registry behind ${host}, is down (${sick[0] ? (waitingReason(sick[0]) ?? 'not ready') : 'no pod'}${lines[0] ? `: “${lines.at(-1)!.text.slice(0, 160)}”` : ''}), so ${all.filter((pull) => pull.host === host).length} pulls fail.`,
          ),
          root: refOf(registry),
          affects: group.flatMap((pull) => facts.ownerChain(pull.pod).map(refOf)),
          onset: earliest(...group.map((pull) => pull.event?.firstAt)),
          evidence: [
            ...group.slice(0, 2).flatMap((pull) => (pull.event ? [evidence.event(pull.event)] : [])),
            ...sick.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
            ...(end
              ? [
                  evidence.field(
                    sick[0]!,
                    `status.containerStatuses[${end.container}].lastState`,
                    `${end.terminated.reason}, exit ${end.terminated.exitCode}, ${end.restartCount} restarts`,
                  ),
                ]
              : []),
            ...lines.map((line) => evidence.log(line.log, line.text)),
            ...(space ? [evidence.series(space, `${lastValue(space)} bytes left`)] : []),
          ],
          chain: [
            link(registry, 'serves the images and is down'),
            ...group.slice(0, 3).map((pull) => link(pull.pod, 'waits for its image')),
          ],
          nextSteps: [
            text(
              `kubectl -n ${registry.metadata.namespace} describe pods; kubectl -n ${registry.metadata.namespace} logs ${registry.kind.toLowerCase()}/${registry.metadata.name} --previous`,
            ),
            ...(space || lines.some((line) => /no space/.test(line.text))
              ? [text(`Its volume is full: grow claim ${claims[0] ?? ''} or run the registry's garbage collection.`)]
              : []),
          ],
        },
      ];
    });
  },
});

/** A workload of this cluster that is a registry, bears a label of the host's name, and has no ready pod. */
const registryBehind = (facts: ClusterFacts, host: string): KubeObject | undefined => {
  const first = host.split(':')[0]!.split('.')[0]!;
  const ingress = facts
    .all('Ingress')
    .find((entry) => (entry.spec?.rules ?? []).some((one: any) => one.host === host.split(':')[0]));
  return ['StatefulSet', 'Deployment']
    .flatMap((kind) => facts.all(kind))
    .find(
      (workload) =>
        isRegistry(workload) &&
        (workload.metadata.namespace === ingress?.metadata.namespace ||
          workload.metadata.namespace === first ||
          workload.metadata.name.split('-').includes(first) ||
          host.includes(`.${workload.metadata.namespace}.svc`)) &&
        facts.podsOf(workload).length > 0 &&
        !facts.podsOf(workload).some(isReady),
    );
};

const isRegistry = (workload: KubeObject): boolean =>
  software.test(workload.metadata.name) ||
  (podSpecOf(workload).containers ?? []).some((container: any) =>
    software.test(container.image?.split('/').at(-1) ?? ''),
  );

const claimsOf = (pod: KubeObject): string[] =>
  (pod.spec?.volumes ?? []).map((volume: any) => volume.persistentVolumeClaim?.claimName).filter(Boolean);
