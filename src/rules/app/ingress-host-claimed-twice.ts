import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { lastChangeOf } from '../../facts/changes/last-change.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { podsBehind } from '../../facts/network/mesh.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import type { Scope } from '../../facts/scope.ts';
import { duration, earliest, latest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Two that have lived together for longer have found their order. */
const recentMinutes = 24 * 60;
const slackMinutes = 2;

export default rule({
  title: 'Another Ingress has claimed the same host and path shortly before, so that requests go astray',
  lookAlikes: [
    'several Ingresses that share a host and split its paths, without requests that the newer backend refuses',
    'a canary of the same backend, which shares both by design',
    'two claims of long ago',
  ],
  judge(facts, scope) {
    const own = facts.all('Ingress').filter((ingress) => isOwn(facts, scope, ingress));
    return own.flatMap((ingress) =>
      facts
        .all('Ingress')
        .filter(
          (other) => other !== ingress && classOf(other) === classOf(ingress) && !isCanary(other) && !isCanary(ingress),
        )
        .flatMap((other) => {
          const shared = claimsOf(ingress).find((claim) => claimsOf(other).includes(claim));
          if (shared) return claimFinding(facts, ingress, other, shared);
          const taken = takenFrom(facts, ingress, other);
          return taken ? claimFinding(facts, ingress, other, taken.claim, taken.line) : [];
        }),
    );
  },
});

/** The Ingress the incident is about, or one in front of its workloads. */
const isOwn = (facts: ClusterFacts, scope: Scope, ingress: KubeObject): boolean =>
  !scope.wide && (scope.has(refOf(ingress)) || servicesOf(facts, ingress).some((service) => scope.has(refOf(service))));

const pathsOf = (ingress: KubeObject): { host: string; path: any }[] =>
  ((ingress.spec?.rules ?? []) as any[]).flatMap((entry) =>
    ((entry.http?.paths ?? []) as any[]).map((path) => ({ host: entry.host ?? '', path })),
  );

const servicesOf = (facts: ClusterFacts, ingress: KubeObject): KubeObject[] =>
  pathsOf(ingress).flatMap(
    ({ path }) => facts.find('Service', path.backend?.service?.name, ingress.metadata.namespace) ?? [],
  );

/** `shop.example.com/ (Prefix)`: what no two Ingresses of a class should both say. */
const claimsOf = (ingress: KubeObject): string[] =>
  pathsOf(ingress)
    .filter(({ host }) => host !== '')
    .map(({ host, path }) => `${host}${path.path ?? '/'} (${path.pathType ?? 'ImplementationSpecific'})`);

/**
 * A longer path of the same host, by another namespace: such splits are usual. Only the controller's log, which names
 * the upstream `namespace-service-port` beside a refused request for that path, proves that somebody misses it.
 */
const takenFrom = (
  facts: ClusterFacts,
  own: KubeObject,
  other: KubeObject,
): { claim: string; line: PodLogLine } | undefined => {
  if (own.metadata.namespace === other.metadata.namespace) return undefined;
  for (const { host, path } of pathsOf(other)) {
    const under = pathsOf(own).some(
      (entry) => entry.host === host && isBelow(path.path ?? '/', entry.path.path ?? '/'),
    );
    const upstream = `[${other.metadata.namespace}-${path.backend?.service?.name}-`;
    const line =
      under &&
      grep(facts, facts.all('Pod'), refusedRequest).findLast(
        (entry) => entry.text.includes(upstream) && entry.text.includes(` ${path.path}`),
      );
    if (line) return { claim: `${host}${path.path}`, line };
  }
  return undefined;
};

const refusedRequest = / HTTP\/[\d.]+" [45]\d\d /;
const isBelow = (path: string, base: string): boolean =>
  path.length > base.length && path.startsWith(base.endsWith('/') ? base : `${base}/`);

const classOf = (ingress: KubeObject): string =>
  ingress.spec?.ingressClassName ?? ingress.metadata.annotations?.['kubernetes.io/ingress.class'] ?? '';

const isCanary = (ingress: KubeObject): boolean =>
  ingress.metadata.annotations?.['nginx.ingress.kubernetes.io/canary'] === 'true' ||
  ingress.metadata.annotations?.['alb.ingress.kubernetes.io/group.name'] !== undefined;

const claimedAt = (facts: ClusterFacts, ingress: KubeObject): string =>
  latest(lastChangeOf(facts, ingress)?.at, ingress.metadata.creationTimestamp) ?? '';

const claimFinding = (
  facts: ClusterFacts,
  own: KubeObject,
  other: KubeObject,
  claim: string,
  taken?: PodLogLine,
): FindingDraft[] => {
  const [mine, theirs] = [claimedAt(facts, own), claimedAt(facts, other)];
  const [late, early] = theirs > mine ? [other, own] : [own, other];
  const at = latest(mine, theirs);
  const onset = earliest(facts.alerts[0]?.startsAt) ?? facts.now;
  const minutes = minutesBetween(at, onset);
  if (!at || minutes < -slackMinutes || minutes > recentMinutes) return [];
  if (taken && late !== other) return [];
  const owner = ownershipOf(facts, late);
  const evidence = cite(owner, facts);
  const change = lastChangeOf(facts, late);
  const backends = servicesOf(facts, own).flatMap((service) => [service, ...podsBehind(facts, service)]);
  const refused = facts.eventsAbout(late).filter((event) => /already defined|conflict|duplicate/i.test(event.message));
  return [
    {
      mechanism: 'traffic',
      explains: ['application-error', 'dependency', 'unknown-symptom'],
      owner,
      boundary: taken ? 'traffic' : 'config',
      strength: 'derived',
      cause: text(
        `${nameOf(late)} has claimed ${claim}, which ${nameOf(early)} serves, ${duration(Math.max(0, minutes))} before${change?.write?.manager ? ` (${change.write.manager})` : ''}: requests for it now reach the backend of one of the two only.`,
      ),
      root: refOf(late),
      affects: [
        own,
        other,
        ...backends,
        ...backends
          .filter(({ kind }) => kind === 'Pod')
          .slice(0, 1)
          .map((pod) => facts.workloadOf(pod)),
      ].map(refOf),
      onset: at,
      evidence: [
        { ...evidence.field(late, 'spec.rules', claim, `since ${at}`), at },
        evidence.field(early, 'spec.rules', claim),
        ...(change?.write ? [evidence.field(late, 'metadata.managedFields', change.write)] : []),
        ...(taken ? [evidence.log(taken.log, taken.text)] : []),
        ...refused.slice(-1).map((event) => evidence.event(event)),
        ...(facts.alerts[0] ? [alertEvidence(owner, facts.alerts[0])] : []),
      ],
      chain: [link(late, `claims ${claim} since ${at}`), link(early, 'serves it too')],
      contributing: [],
      nextSteps: [
        text(
          `Withdraw one claim: ${change?.undo ?? `kubectl edit ingress ${late.metadata.name} -n ${late.metadata.namespace}`}; see who serves it: kubectl get ingress -A | grep ${claim.split('/')[0]}`,
        ),
      ],
    },
  ];
};
