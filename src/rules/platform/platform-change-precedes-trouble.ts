import type { Mechanism } from '../../domain/finding.ts';
import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { authorOf, citeChange, type LastChange, lastChangeOf } from '../../facts/changes/last-change.ts';
import { troubledSince } from '../../facts/changes/trouble-since.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { isPlatformNamespace, ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { duration, earliest, latest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What a part of the platform serves, and what its users write when it does not. */
interface Service {
  named: RegExp;
  complaint: RegExp;
  mechanism: Mechanism;
  boundary: Boundary;
}

const services: Service[] = [
  {
    named: /coredns|kube-dns|node-local-dns|nodelocaldns/,
    complaint:
      /no such host|EAI_AGAIN|ENOTFOUND|NXDOMAIN|SERVFAIL|name resolution|\blookup\b.*(?:timeout|misbehaving|:53)/i,
    mechanism: 'dns',
    boundary: 'dns',
  },
  {
    named: /\bcsi\b|csi-|ebs|efs|rook|longhorn|ceph|\bnfs\b|portworx|openebs/,
    complaint:
      /FailedMount|FailedAttach|MountVolume|AttachVolume|volume.*(?:failed|timed out)|read-only file system|CSINode/i,
    mechanism: 'volume',
    boundary: 'storage',
  },
  {
    named: /external-secrets|vault|secrets-store|sealed-secrets|cert-manager|trust-manager/,
    complaint: /secret(?:s|providerclass)?\b.*(?:not found|failed|denied|sync)|x509|certificate|FailedMount/i,
    mechanism: 'config-missing',
    boundary: 'config',
  },
  {
    named: /pod-identity|kiam|kube2iam|workload-identity|azure-wi|irsa|iam-/,
    complaint: /credential|AccessDenied|assume ?role|web identity|token.*(?:expired|invalid|missing)|not authorized/i,
    mechanism: 'identity',
    boundary: 'config',
  },
  {
    named: /kyverno|gatekeeper|opa|admission|webhook|policy|polaris|datree|kubewarden/,
    complaint: /admission webhook|failed calling webhook|denied the request|FailedCreate/i,
    mechanism: 'webhook',
    boundary: 'admission',
  },
  {
    named:
      /calico|cilium|aws-node|\bcni\b|kube-proxy|flannel|antrea|weave|azure-c|terway|istio|linkerd|envoy|ztunnel|ingress|gateway|traefik|nginx|contour|egress/,
    complaint:
      /i\/o timeout|connection (?:timed out|refused|reset)|ECONN|ETIMEDOUT|no route to host|unreachable|FailedCreatePodSandBox|no healthy upstream|upstream connect|\b50[234]\b|broken pipe/i,
    mechanism: 'network',
    boundary: 'network',
  },
];

const watched = [
  'Deployment',
  'DaemonSet',
  'StatefulSet',
  'ConfigMap',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];
/** A change of the platform is felt at once, or when its users next start or connect. */
const feltWithinMinutes = 30;
const slackMinutes = 2;
const recentMinutes = 6 * 60;
const fewestWorkloads = 3;
const fewestNamespaces = 2;

export default rule({
  title:
    'A part of the platform was changed, and minutes later workloads of several namespaces complain of what it serves',
  lookAlikes: [
    'trouble that began before the change, or only in one namespace',
    'complaints about something that the changed part does not serve',
    'two parts changed in the same minutes: neither is proven',
  ],
  judge(facts, scope) {
    const victims = victimsOf(facts);
    const blamed = watched
      .flatMap((kind) => facts.all(kind))
      .filter((object) => isOfPlatform(facts, object))
      .flatMap((object) => {
        const service = services.find(({ named }) => named.test(object.metadata.name));
        const change = service && lastChangeOf(facts, object);
        return service && change && minutesBetween(change.at, facts.now) <= recentMinutes
          ? blame(facts, change, service, victims)
          : [];
      });
    const [first, second] = blamed;
    if (!first || (second && second.service !== first.service)) return [];
    const latestChange = blamed.reduce((a, b) => (b.change.at > a.change.at ? b : a));
    return latestChange.victims.some(({ pod }) => scope.has(refOf(pod))) ? [changeFinding(facts, latestChange)] : [];
  },
});

const isOfPlatform = (facts: ClusterFacts, object: KubeObject): boolean =>
  ownershipOf(facts, object) === 'platform' &&
  (object.metadata.namespace === undefined || isPlatformNamespace(object.metadata.namespace));

interface Victim {
  pod: KubeObject;
  since: string;
}

/** Pods of applications that are not ready. */
const victimsOf = (facts: ClusterFacts): Victim[] =>
  facts
    .all('Pod')
    .filter((pod) => !isReady(pod) && !isPlatformNamespace(pod.metadata.namespace ?? ''))
    .flatMap((pod) => {
      const since = troubledSince(facts, pod);
      return since ? [{ pod, since }] : [];
    });

interface Blamed {
  change: LastChange;
  service: Service;
  victims: (Victim & { words: PodLogLine | KubeEvent })[];
}

const blame = (facts: ClusterFacts, change: LastChange, service: Service, all: Victim[]): Blamed[] => {
  const complaining = all.flatMap((victim) => {
    const words = wordsOf(facts, victim.pod, service.complaint);
    return words ? [{ ...victim, words }] : [];
  });
  const isAfter = ({ since }: Victim): boolean => {
    const minutes = minutesBetween(change.at, since);
    return minutes >= -slackMinutes && minutes <= feltWithinMinutes;
  };
  const victims = complaining.filter(isAfter);
  const workloads = new Set(victims.map(({ pod }) => facts.workloadOf(pod)));
  const namespaces = new Set(victims.map(({ pod }) => pod.metadata.namespace));
  // Whoever complained of the same before speaks against it.
  const isNews = victims.length === complaining.length;
  return isNews && workloads.size >= fewestWorkloads && namespaces.size >= fewestNamespaces
    ? [{ change, service, victims }]
    : [];
};

const wordsOf = (facts: ClusterFacts, pod: KubeObject, pattern: RegExp): PodLogLine | KubeEvent | undefined =>
  facts
    .eventsAbout(pod)
    .find((event) => event.type === 'Warning' && pattern.test(`${event.reason} ${event.message}`)) ??
  grep(facts, [pod], pattern).at(-1);

const changeFinding = (facts: ClusterFacts, { change, service, victims }: Blamed): FindingDraft => {
  const { object } = change;
  const first = earliest(...victims.map(({ since }) => since))!;
  const last = latest(...victims.map(({ since }) => since))!;
  const namespaces = new Set(victims.map(({ pod }) => pod.metadata.namespace));
  const workloads = [...new Set(victims.map(({ pod }) => facts.workloadOf(pod)))];
  const evidence = cite('platform', facts);
  const author = authorOf(change);
  const minutes = duration(Math.max(0, minutesBetween(change.at, first)));
  return {
    mechanism: service.mechanism,
    explains: ['crash', 'probe', 'dependency', 'application-error', 'rollout', 'unknown-symptom'],
    owner: 'platform',
    boundary: service.boundary,
    strength: 'derived',
    cause: text(
      `${nameOf(object)} was changed at ${change.at}${author ? ` ${author}` : ''}${change.what[0] ? ` (${change.what.slice(0, 2).join('; ')})` : ''}, and from ${minutes} to ${duration(Math.max(0, minutesBetween(change.at, last)))} later ${victims.length} pods of ${workloads.length} workloads in ${namespaces.size} namespaces fail and complain of what it serves.`,
    ),
    root: refOf(object),
    affects: [...workloads, ...victims.map(({ pod }) => pod)].map(refOf),
    onset: change.at,
    evidence: [
      ...citeChange(evidence, change, `changed ${minutes} before the first trouble`),
      ...victims
        .slice(0, 4)
        .map(({ words }) => ('log' in words ? evidence.log(words.log, words.text) : evidence.event(words))),
    ],
    chain: [
      link(object, `changed at ${change.at}`),
      ...workloads.slice(0, 3).map((workload) => link(workload, 'complains of what it serves')),
    ],
    contributing: [],
    nextSteps: [
      text(
        change.undo ??
          `Compare with the former state and put it back: kubectl get ${object.kind.toLowerCase()} ${object.metadata.name}${object.metadata.namespace ? ` -n ${object.metadata.namespace}` : ''} -o yaml --show-managed-fields`,
      ),
    ],
  };
};
