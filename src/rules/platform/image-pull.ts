import type { Contribution, MissingRead, Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type FailedPull, failedPulls } from '../../facts/image-pulls.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses, podSpecOf } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { containerOf, containerPath, rolloutOf } from '../../facts/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Registries that the cloud vendor runs. */
const vendorRegistry =
  /\.amazonaws\.com|public\.ecr\.aws|pkg\.dev|gcr\.io|azurecr\.io|mcr\.microsoft\.com|aliyuncs\.com/;

interface Judged {
  owner: Owner;
  strength: Strength;
  boundary: Boundary;
  because: string;
  step: string;
  missing?: MissingRead[];
  contributing?: Contribution[];
}

interface Spread {
  namespaces: number;
  workloads: number;
  nodes: number;
}

export default rule({
  title: "An image cannot be pulled; the registry's answer and the spread of the failure say whose matter it is",
  lookAlikes: [
    '429 with the text of the pull rate limit, of failed logins, or during an outage of the registry: three causes',
    '403 for one workload with a pull secret of its own, or for all of a node role',
    'a tag that never existed, or one that was deleted after pods had run with it',
  ],
  judge(facts, scope) {
    const all = failedPulls(facts, facts.all('Pod'));
    const own = all.filter((pull) => scope.has(refOf(pull.pod)) && (!scope.wide || all.length >= 3));
    return groupBy(own, (pull) => `${pull.fault}/${pull.host}`).map((group) => {
      const alike = all.filter((pull) => pull.fault === group[0]!.fault && pull.host === group[0]!.host);
      return pullFinding(facts, group, alike, all);
    });
  },
});

const pullFinding = (
  facts: ClusterFacts,
  group: FailedPull[],
  alike: FailedPull[],
  all: FailedPull[],
): FindingDraft => {
  const pull = group[0]!;
  const workload = facts.workloadOf(pull.pod);
  const spread: Spread = {
    namespaces: new Set(alike.map((entry) => entry.pod.metadata.namespace)).size,
    workloads: new Set(alike.map((entry) => nameOf(facts.workloadOf(entry.pod)))).size,
    nodes: new Set(alike.map((entry) => entry.pod.spec?.nodeName)).size,
  };
  const judged = judgePull(facts, pull, spread, all);
  const evidence = cite(judged.owner === 'undetermined' ? 'platform' : judged.owner, facts);
  const rollout = rolloutOf(facts, workload);
  return {
    mechanism: 'image-pull',
    explains: ['rollout', 'crash', 'job', 'application-error', 'unknown-symptom'],
    owner: judged.owner,
    boundary: judged.boundary,
    strength: judged.strength,
    cause: text(
      `Image ${pull.image} of ${nameOf(workload)} cannot be pulled from ${pull.host}: ${judged.because} (${spread.workloads} workloads in ${spread.namespaces} namespaces on ${spread.nodes} nodes fail alike).`,
    ),
    root: refOf(workload),
    affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
    onset: earliest(...group.map((entry) => entry.event?.firstAt ?? entry.pod.metadata.creationTimestamp)),
    evidence: [
      ...alike
        .slice(0, 3)
        .map((entry) =>
          entry.event
            ? evidence.event(entry.event)
            : evidence.field(
                entry.pod,
                `status.containerStatuses[${entry.container}].state.waiting`,
                'image not pulled',
                entry.text,
              ),
        ),
      evidence.field(
        pull.pod,
        `status.containerStatuses[${pull.container}].state.waiting.message`,
        'image not pulled',
        pull.text,
      ),
      evidence.field(pull.pod, containerPath(pull.pod, pull.container, 'image'), pull.image),
      evidence.field(pull.pod, 'spec.imagePullSecrets', JSON.stringify(pull.pod.spec?.imagePullSecrets ?? 'none')),
      ...(rollout ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at)] : []),
    ],
    chain: [
      link(workload, `needs ${pull.image}`),
      ...group.slice(0, 3).map((entry) => link(entry.pod, 'waits for its image')),
    ],
    contributing: judged.contributing ?? [],
    nextSteps: [
      text(judged.step),
      text(
        `crictl pull ${pull.image} on node ${pull.pod.spec?.nodeName}; kubectl describe pod ${pull.pod.metadata.name} -n ${pull.pod.metadata.namespace}`,
      ),
    ],
    missing: judged.missing ?? [],
  };
};

const judgePull = (facts: ClusterFacts, pull: FailedPull, spread: Spread, all: FailedPull[]): Judged => {
  const owner = ownershipOf(facts, facts.workloadOf(pull.pod));
  const outage = all.some((entry) => entry.host === pull.host && entry.fault === 'server-error');
  const ownSecret = (podSpecOf(pull.pod).imagePullSecrets ?? []).length > 0;
  const several = spread.namespaces > 1 || spread.workloads > 2;
  const image = 'image' as const;
  switch (pull.fault) {
    case 'not-found':
      if (spread.namespaces > 1)
        return {
          owner: 'platform',
          strength: 'derived',
          boundary: image,
          because: 'the registry denies having images of several namespaces at once',
          step: 'Check the mirror or pull-through cache in front of the registry, and its clean-up rules.',
        };
      return ranBefore(facts, pull)
        ? {
            owner,
            strength: 'derived',
            boundary: image,
            because: 'the registry no longer has it, though older pods run with it: it was deleted or cleaned up',
            step: 'Push the image again or roll out a tag that exists; check lifecycle rules of the repository.',
          }
        : {
            owner,
            strength: 'direct',
            boundary: image,
            because: 'the registry does not know this tag or repository',
            step: 'Correct the image reference in the template, or push the tag.',
          };
    case 'no-platform':
      return {
        owner,
        strength: 'direct',
        boundary: image,
        because: 'it has no variant for the architecture of the node',
        step: 'Build the image for that architecture, or pin kubernetes.io/arch.',
      };
    case 'bad-reference':
      return {
        owner,
        strength: 'direct',
        boundary: image,
        because: `the reference is not valid (${pull.text.slice(0, 120)})`,
        step: 'Correct the image reference in the template.',
      };
    case 'never-pulled':
      return {
        owner,
        strength: 'direct',
        boundary: image,
        because: 'imagePullPolicy is Never and the node does not hold it',
        step: 'Set imagePullPolicy IfNotPresent, or preload the image.',
      };
    case 'denied': {
      const secretMissing = facts.eventsAbout(pull.pod, 'FailedToRetrieveImagePullSecret').length > 0;
      if (secretMissing)
        return {
          owner,
          strength: 'direct',
          boundary: image,
          because: 'the pull secret its template names does not exist',
          step: `Create the secret of spec.imagePullSecrets in namespace ${pull.pod.metadata.namespace}.`,
        };
      if (ownSecret && !several)
        return {
          owner,
          strength: 'derived',
          boundary: image,
          because: 'the registry refuses the credential of its own pull secret',
          step: 'Renew the pull secret of the workload, or grant it the repository.',
        };
      return several
        ? {
            owner: 'platform',
            strength: 'derived',
            boundary: image,
            because: 'the registry refuses the credential of the nodes',
            step: 'Check the pull permission of the node role or the node credential provider, and the repository policy.',
          }
        : {
            owner: 'platform',
            strength: 'circumstantial',
            boundary: image,
            because: 'the registry refuses access for this one repository',
            step: 'Check the repository policy for the node role; ask the team whether the repository is private.',
          };
    }
    case 'failed-logins':
      return ownSecret && !several
        ? {
            owner,
            strength: 'derived',
            boundary: image,
            because: 'too many failed logins with the credential of its own pull secret',
            step: 'Renew the pull secret of the workload.',
          }
        : {
            owner: 'platform',
            strength: 'direct',
            boundary: image,
            because: `too many failed logins: the credential the nodes log in with is no longer valid${ownSecret ? '' : ', since the pods bring no imagePullSecrets'}`,
            step: 'Renew the registry credential in the node bootstrap, then replace or refresh the nodes; the lock ends by itself after that.',
          };
    case 'rate-limit':
      return outage
        ? undetermined(pull, 'it limits requests while it also fails')
        : {
            owner: 'platform',
            strength: 'derived',
            boundary: image,
            because: 'its pull rate limit for these addresses is used up',
            step: 'Pull through a mirror or cache, or authenticate the pulls.',
            contributing: [
              {
                owner: 'app',
                action: text('Use the internal mirror and imagePullPolicy IfNotPresent with fixed tags.'),
              },
            ],
          };
    case 'too-many':
      return undetermined(
        pull,
        outage ? 'it answers 429 while it also fails' : 'it answers 429 without saying which limit',
      );
    case 'certificate':
      return several
        ? {
            owner: 'platform',
            strength: 'derived',
            boundary: image,
            because: "the nodes do not trust the registry's certificate",
            step: 'Check the certificate of the registry and the trust store of the nodes.',
          }
        : undetermined(pull, 'its certificate is not trusted');
    case 'server-error':
      if (inCluster(facts, pull.host))
        return {
          owner: 'platform',
          strength: 'derived',
          boundary: image,
          because: "the cluster's own registry fails",
          step: 'Look at the pods and the storage of the registry.',
        };
      return vendorRegistry.test(pull.host) && several
        ? {
            owner: 'cloud',
            strength: 'derived',
            boundary: image,
            because: "the vendor's registry answers with server errors",
            step: "Check the vendor's health page for the registry service and open a support case.",
          }
        : undetermined(pull, 'the registry answers with server errors');
    case 'name':
      return several
        ? undetermined(pull, 'its name does not resolve', 'dns')
        : {
            owner,
            strength: 'derived',
            boundary: image,
            because: `the host ${pull.host} does not resolve, and no other image fails so`,
            step: 'Correct the registry host in the image reference.',
          };
    case 'timeout':
      return undetermined(pull, 'it cannot be reached from the node', 'network');
    default:
      return undetermined(pull, 'the text names no cause');
  }
};

const undetermined = (pull: FailedPull, because: string, boundary: Boundary = 'image'): Judged => ({
  owner: 'undetermined',
  strength: 'circumstantial',
  boundary,
  because,
  step: `Ask the registry from the node and from outside: curl -sI https://${pull.host}/v2/`,
  missing: [
    {
      layer: 'platform',
      missing: `whether other addresses reach ${pull.host}`,
      fix: `curl -sI https://${pull.host}/v2/ from the node and from outside; NAT and proxy counters`,
    },
    { layer: 'cloud', missing: `state of ${pull.host}`, fix: "read the registry's status page" },
  ],
});

/** Some container runs with this very image: the reference was good once. */
const ranBefore = (facts: ClusterFacts, pull: FailedPull): boolean =>
  facts
    .all('Pod')
    .some(
      (pod: KubeObject) =>
        pod !== pull.pod &&
        containerStatuses(pod).some(
          (status) =>
            status.state?.running &&
            containerOf(pod, status.name)?.image === pull.image &&
            minutesBetween(pod.metadata.creationTimestamp, pull.pod.metadata.creationTimestamp) > 30,
        ),
    );

const inCluster = (facts: ClusterFacts, host: string): boolean =>
  /\.svc(\.|:|$)|cluster\.local/.test(host) ||
  facts
    .all('Ingress')
    .some((ingress) => (ingress.spec?.rules ?? []).some((entry: any) => entry.host === host.split(':')[0]));
