import type { Contribution, MissingRead, Strength } from '../domain/finding.ts';
import type { KubeObject } from '../domain/kubernetes.ts';
import type { Boundary, Owner } from '../domain/layer.ts';
import { text } from '../domain/text.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { newKindFor } from '../facts/nodes/new-kind.ts';
import { ownershipOf } from '../facts/ownership.ts';
import { containerStatuses, podSpecOf } from '../facts/pods.ts';
import { minutesBetween } from '../facts/time.ts';
import type { FailedPull } from '../facts/workloads/image-pulls.ts';
import { containerOf } from '../facts/workloads/workloads.ts';

/** Registries that the cloud vendor runs. */
const vendorRegistry =
  /\.amazonaws\.com|public\.ecr\.aws|pkg\.dev|gcr\.io|azurecr\.io|mcr\.microsoft\.com|aliyuncs\.com/;

/** Whose matter a failed pull is, and why. */
export interface PullVerdict {
  owner: Owner;
  strength: Strength;
  boundary: Boundary;
  because: string;
  step: string;
  missing?: MissingRead[];
  contributing?: Contribution[];
}

/** How many others fail alike. */
export interface Spread {
  namespaces: number;
  workloads: number;
  nodes: number;
}

export const judgePull = (facts: ClusterFacts, pull: FailedPull, spread: Spread, all: FailedPull[]): PullVerdict => {
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
    case 'no-platform': {
      const kind = newKindFor(facts, facts.workloadOf(pull.pod), facts.nodeOf(pull.pod));
      // One image alone may as well have been pushed again for fewer platforms under its old tag.
      if (kind && several)
        return {
          owner: 'platform',
          strength: 'derived',
          boundary: 'node',
          because: `it has no variant for ${kind.platform}; its template is of ${kind.since}, and the first such node came at ${kind.arrived}`,
          step: `Bring nodes of the former kind back (or keep these workloads off ${kind.platform}) until the images are built for it.`,
          contributing: [
            { owner: 'app', action: text(`Build ${pull.image} for ${kind.platform} as well, or pin what it needs.`) },
          ],
        };
      return {
        owner,
        strength: kind ? 'derived' : 'direct',
        boundary: image,
        because: 'it has no variant for the architecture of the node',
        step: 'Build the image for that architecture, or pin kubernetes.io/arch.',
      };
    }
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

const undetermined = (pull: FailedPull, because: string, boundary: Boundary = 'image'): PullVerdict => ({
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
