import type { KubeObject } from '../../domain/kubernetes.ts';
import { deliveryOf } from '../changes/delivery.ts';
import type { ClusterFacts } from '../cluster.ts';
import { ownershipOf, teamOf } from '../ownership.ts';
import { selects } from '../selectors.ts';
import { minutesBetween } from '../time.ts';
import { lastWriter, sharesWord, speaksOfPlatform } from '../writers.ts';

const declares = (policy: KubeObject, direction: 'Ingress' | 'Egress'): boolean =>
  policy.spec?.policyTypes?.includes(direction) ?? (direction === 'Ingress' || policy.spec?.egress !== undefined);

/** Policies that isolate a pod's incoming side: what none of them admits is dropped. */
export const isolating = (facts: ClusterFacts, pod: KubeObject): KubeObject[] =>
  facts
    .in('NetworkPolicy', pod.metadata.namespace ?? '')
    .filter((policy) => declares(policy, 'Ingress') && selects(policy.spec?.podSelector ?? {}, pod.metadata.labels));

/** Whether the policies of the target let this pod in, at some port at least. */
export const admits = (facts: ClusterFacts, policies: KubeObject[], from: KubeObject): boolean =>
  policies.some((policy) =>
    ((policy.spec?.ingress ?? []) as any[]).some(
      (entry) => !entry.from?.length || entry.from.some((peer: any) => isPeer(facts, policy, peer, from)),
    ),
  );

const isPeer = (facts: ClusterFacts, policy: KubeObject, peer: any, pod: KubeObject): boolean => {
  const { namespace = '', labels } = pod.metadata;
  if (peer.ipBlock) return true;
  if (peer.namespaceSelector) {
    const home = facts.find('Namespace', namespace);
    const homeLabels = { 'kubernetes.io/metadata.name': namespace, ...home?.metadata.labels };
    if (!selects(peer.namespaceSelector, homeLabels)) return false;
  } else if (namespace !== policy.metadata.namespace) return false;
  return !peer.podSelector || selects(peer.podSelector, labels);
};

/** Provisioning tools of whoever runs the cluster; a deliverer's own name says nothing about whose manifest it is. */
const provisioners = /terraform|pulumi|gatekeeper|kyverno|crossplane/i;

/** Whose policy this is: the team's that its writer, label or deliverer bears the name of, else its generator's. */
export const policyWriter = (facts: ClusterFacts, policy: KubeObject): 'platform' | 'app' => {
  if (isGenerated(facts, policy)) return 'platform';
  if (teamOf(policy)) return ownershipOf(facts, policy);
  const { namespace = '', labels } = policy.metadata;
  const names = [
    lastWriter(policy)?.manager,
    labels?.['app.kubernetes.io/managed-by'],
    deliveryOf(facts, policy)?.name,
  ].filter((name) => name !== undefined);
  const own = [namespace, teamOf(facts.find('Namespace', namespace))];
  if (names.some((name) => own.some((word) => sharesWord(name, word)))) return ownershipOf(facts, policy);
  return names.some((name) => speaksOfPlatform(name) || provisioners.test(name))
    ? 'platform'
    : ownershipOf(facts, policy);
};

/** Marks that policy engines, tenancy operators and namespace templates leave on what they make. */
const generators =
  /^(generate\.kyverno\.io\/|policies\.kyverno\.io\/|capsule\.clastix\.io\/|projectcapsule\.dev\/|hnc\.x-k8s\.io\/|argocd\.argoproj\.io\/application-set-name|crossplane\.io\/|field\.cattle\.io\/)/;
const generatingManager = /^(kyverno|capsule|hnc|gatekeeper|crossplane|rancher|namespace-configuration-operator)/i;
/** Copies of one policy are written within minutes of each other. */
const togetherMinutes = 10;

/** Written by an engine over many namespaces, not by the team that lives in one of them. */
const isGenerated = (facts: ClusterFacts, policy: KubeObject): boolean => {
  const { labels = {}, annotations = {}, name, namespace, creationTimestamp } = policy.metadata;
  const marked = [...Object.keys(labels), ...Object.keys(annotations)].some((key) => generators.test(key));
  if (marked || generatingManager.test(labels['app.kubernetes.io/managed-by'] ?? '')) return true;
  const copies = facts
    .all('NetworkPolicy')
    .filter(
      (other) =>
        other.metadata.name === name &&
        other.metadata.namespace !== namespace &&
        Math.abs(minutesBetween(other.metadata.creationTimestamp, creationTimestamp)) <= togetherMinutes,
    );
  return copies.length >= 2;
};
