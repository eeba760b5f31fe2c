import { type Condition, type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { lastChangeOf } from '../../facts/changes/last-change.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { podsBehind } from '../../facts/network/mesh.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { earliest, latest } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Reasons that a Gateway's listeners decide as much as the route does (Gateway API v1). */
const agreed = /^(NotAllowedByListeners|NoMatchingListenerHostname|NoMatchingParent)$/;
/** Reasons while something is still being set up, or where no controller feels addressed. */
const notYet = /^(Pending|NoReadyListeners|Scheduled|Unknown)$/;

export default rule({
  title:
    'A route or a Gateway of the Gateway API is refused by its controller: backend, reference, listener or address',
  lookAlikes: [
    'a route that is accepted and whose backends are ill: the pods',
    'a Gateway that is still being set up',
    'a refused route of somebody else',
  ],
  judge(facts, scope) {
    const routes = ['HTTPRoute', 'GRPCRoute', 'TLSRoute'].flatMap((kind) => facts.all(kind));
    const refusals = [
      ...routes.flatMap((route) => refusedRoutes(facts, route)),
      ...facts.all('Gateway').flatMap((gateway) => refusedGateway(facts, gateway, routes)),
    ];
    return refusals
      .filter(({ harmed }) => harmed.some((ref) => scope.has(ref)))
      .map((refusal) => refusalFinding(facts, refusal));
  },
});

interface Refusal {
  /** The object whose status says so. */
  object: KubeObject;
  root: KubeObject;
  path: string;
  condition: Condition;
  harmed: ObjectRef[];
  what: string;
}

/** Services behind a route, their pods and workloads. */
const behind = (facts: ClusterFacts, route: KubeObject): KubeObject[] =>
  ((route.spec?.rules ?? []) as any[])
    .flatMap((entry) => (entry.backendRefs ?? []) as any[])
    .flatMap((ref) => facts.find('Service', ref.name, ref.namespace ?? route.metadata.namespace) ?? [])
    .flatMap((service) => {
      const pods = podsBehind(facts, service);
      return [service, ...pods, ...pods.slice(0, 1).map((pod) => facts.workloadOf(pod))];
    });

const gatewayOf = (facts: ClusterFacts, route: KubeObject, parent: any): KubeObject | undefined =>
  facts.find('Gateway', parent?.name, parent?.namespace ?? route.metadata.namespace);

const changedAt = (facts: ClusterFacts, object: KubeObject): string =>
  latest(lastChangeOf(facts, object)?.at, object.metadata.creationTimestamp) ?? '';

const refusedRoutes = (facts: ClusterFacts, route: KubeObject): Refusal[] =>
  ((route.status?.parents ?? []) as any[]).flatMap((parent, index) =>
    ((parent.conditions ?? []) as Condition[])
      .filter(
        ({ type, status, reason }) =>
          /^(Accepted|ResolvedRefs)$/.test(type) && status === 'False' && !notYet.test(reason ?? ''),
      )
      .map((condition): Refusal => {
        const gateway = gatewayOf(facts, route, parent.parentRef);
        // Of two that must agree, the one changed last is at fault.
        const isGateway =
          gateway && agreed.test(condition.reason ?? '') && changedAt(facts, gateway) > changedAt(facts, route);
        return {
          object: route,
          root: isGateway ? gateway : route,
          path: `status.parents[${index}].conditions[${condition.type}]`,
          condition,
          harmed: [route, ...behind(facts, route)].map(refOf),
          what: `${nameOf(route)} is not ${condition.type === 'Accepted' ? 'accepted' : 'resolved'} by ${gateway ? nameOf(gateway) : `Gateway ${parent.parentRef?.name}`}`,
        };
      }),
  );

const refusedGateway = (facts: ClusterFacts, gateway: KubeObject, routes: KubeObject[]): Refusal[] => {
  const served = routes.filter((route) =>
    ((route.spec?.parentRefs ?? []) as any[]).some((parent) => gatewayOf(facts, route, parent) === gateway),
  );
  const harmed = [gateway, ...served, ...served.flatMap((route) => behind(facts, route))].map(refOf);
  const whole = ((gateway.status?.conditions ?? []) as Condition[])
    .filter(
      ({ type, status, reason }) =>
        /^(Accepted|Programmed)$/.test(type) && status === 'False' && !notYet.test(reason ?? ''),
    )
    .map((condition) => ({ condition, path: `status.conditions[${condition.type}]` }));
  const listeners = ((gateway.status?.listeners ?? []) as any[]).flatMap((listener) =>
    ((listener.conditions ?? []) as Condition[])
      .filter(
        ({ type, status, reason }) =>
          (/^(Accepted|ResolvedRefs|Programmed)$/.test(type) && status === 'False' && !notYet.test(reason ?? '')) ||
          (type === 'Conflicted' && status === 'True'),
      )
      .map((condition) => ({ condition, path: `status.listeners[${listener.name}].conditions[${condition.type}]` })),
  );
  // A listener says more than the sum of them.
  return [...listeners, ...whole].slice(0, 1).map(({ condition, path }) => ({
    object: gateway,
    root: gateway,
    path,
    condition,
    harmed,
    what: `${nameOf(gateway)} does not serve (${condition.type})`,
  }));
};

const refusalFinding = (
  facts: ClusterFacts,
  { object, root, path, condition, harmed, what }: Refusal,
): FindingDraft => {
  const owner = ownershipOf(facts, root);
  const evidence = cite(owner, facts);
  const change = lastChangeOf(facts, root);
  const contested = agreed.test(condition.reason ?? '');
  return {
    mechanism: 'traffic',
    explains: ['application-error', 'dependency', 'rollout', 'unknown-symptom'],
    owner,
    boundary: 'config',
    strength: contested ? 'derived' : 'direct',
    cause: text(
      `${what}: ${condition.reason}${condition.message ? `, "${condition.message.slice(0, 200)}"` : ''}${root === object ? '' : `; ${nameOf(root)} was changed last, at ${changedAt(facts, root)}`}.`,
    ),
    root: refOf(root),
    affects: harmed,
    onset: earliest(condition.lastTransitionTime, root === object ? undefined : change?.at),
    evidence: [
      {
        ...evidence.field(
          object,
          path,
          `${condition.status} ${condition.reason ?? ''}`.trim(),
          condition.message ?? '',
        ),
        at: condition.lastTransitionTime,
      },
      ...(root === object ? [] : [evidence.field(root, 'spec.listeners', JSON.stringify(root.spec?.listeners ?? []))]),
    ],
    chain: [
      link(root, root === object ? `refused: ${condition.reason}` : `changed at ${changedAt(facts, root)}`),
      ...(root === object ? [] : [link(object, `refused: ${condition.reason}`)]),
    ],
    contributing: contested
      ? [
          {
            owner: owner === 'app' ? 'platform' : 'app',
            action: text(
              `Agree on hostname, namespace and section of the listener that ${nameOf(object)} attaches to.`,
            ),
          },
        ]
      : [],
    nextSteps: [
      text(
        change?.undo ??
          `Correct what it names: kubectl get ${root.kind.toLowerCase()} ${root.metadata.name} -n ${root.metadata.namespace} -o yaml`,
      ),
    ],
  };
};
