import type { KubeObject, ManagedField } from '../domain/kubernetes.ts';

/** Managers that write status or run rollouts: never the author of a specification. */
const machinery =
  /^(kube-controller-manager|kubelet|kube-scheduler|cluster-autoscaler|before-first-apply|horizontal-pod-autoscaler)$/;

/** The last writer of a part of an object, by managedFields; `path` like `f:spec` or `f:hard`. */
export const lastWriter = (object: KubeObject, path?: string): ManagedField | undefined =>
  (object.metadata.managedFields ?? [])
    .filter((entry) => !machinery.test(entry.manager ?? '') && entry.subresource !== 'status')
    .filter((entry) => !path || !entry.fieldsV1 || JSON.stringify(entry.fieldsV1).includes(`"${path}"`))
    .sort((a, b) => (a.time ?? '').localeCompare(b.time ?? ''))
    .at(-1);

const words = (value: string | undefined): string[] =>
  (value ?? '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2 && !common.has(word));

/** Words that any deploy tool or object may bear: they identify nobody. */
const common = new Set([
  'deploy',
  'deployment',
  'pipeline',
  'controller',
  'manager',
  'operator',
  'service',
  'app',
  'apps',
  'api',
  'web',
  'prod',
  'staging',
  'dev',
  'team',
  'helm',
  'kubectl',
  'client',
  'side',
  'apply',
  'edit',
  'quota',
  'namespace',
  'default',
  'bot',
  'github',
  'gitlab',
  'jenkins',
  'argocd',
  'flux',
  'terraform',
  'the',
  'live',
  'production',
]);

/** True where two names share a telling word: `booking-deploy-pipeline` and Deployment `booking-api`. */
export const sharesWord = (a: string | undefined, b: string | undefined): boolean => {
  const other = words(b);
  return words(a).some((word) => other.some((entry) => entry === word || entry === `${word}s` || `${entry}s` === word));
};

export const speaksOfPlatform = (name: string | undefined): boolean =>
  /platform|tenan|infra|cluster|landing-?zone|sre|capsule|crossplane|hnc|rancher|governance|policy/i.test(name ?? '');

/** Deliverers of whoever's manifests, and Kubernetes' own: what they write is another's word. */
const delivers =
  /^(helm|kustomize|source|notification|image-automation|argocd|application|argo-?rollouts?|fluxcd?|tekton|kube|cloud|endpoint|deployment|replicaset|statefulset|job)\b/i;

/** A controller of the cluster that writes into namespaces of many teams: `rightsizing-controller`, `goldilocks`. */
export const isAutomation = (name: string | undefined): boolean =>
  name !== undefined &&
  /(-|^)(controller|operator|goldilocks|kyverno|gatekeeper|rightsiz\w*|stormforge|castai|kubecost|gemini|polaris)(-|$)/i.test(
    name,
  ) &&
  !delivers.test(name);
