import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { containerStatuses, isReady } from '../pods.ts';
import { minutesBetween } from '../time.ts';
import { containerOf } from './workloads.ts';

type PullFault =
  | 'not-found'
  | 'no-platform'
  | 'denied'
  | 'failed-logins'
  | 'rate-limit'
  | 'too-many'
  | 'server-error'
  | 'certificate'
  | 'name'
  | 'timeout'
  | 'bad-reference'
  | 'never-pulled'
  | 'other';

/** A container whose image does not come, with the registry's own words. */
export interface FailedPull {
  pod: KubeObject;
  container: string;
  image: string;
  /** Host of the registry, e.g. `registry-1.docker.io`. */
  host: string;
  fault: PullFault;
  text: string;
  event?: KubeEvent;
}

/** Registry answers by what they mean, the most telling first. */
const faults: [PullFault, RegExp][] = [
  ['failed-logins', /failed login attempts|too many (failed )?(login|authentication)/i],
  ['rate-limit', /pull rate limit|toomanyrequests|rate exceeded|data limit exceeded|rate limit/i],
  ['too-many', /\b429\b|too many requests/i],
  [
    'no-platform',
    /no match for platform|no matching manifest|does not match the specified platform|not supported .*architecture/i,
  ],
  ['certificate', /x509|certificate signed by unknown|tls: /i],
  ['name', /no such host|server misbehaving|name resolution/i],
  ['server-error', /\b50[0-4]\b|internal server error|bad gateway|service unavailable|registry is unavailable/i],
  [
    'not-found',
    /manifest unknown|name unknown|MANIFEST_UNKNOWN|NAME_UNKNOWN|: not found|\b404\b|failed to resolve reference "[^"]+": "?[^"]*"?: not found/i,
  ],
  [
    'denied',
    /\b401\b|\b403\b|unauthorized|forbidden|denied|no basic auth|authorization failed|authentication required|insufficient_scope|token has expired/i,
  ],
  [
    'timeout',
    /i\/o timeout|timed? ?out|deadline exceeded|connection refused|connection reset|no route to host|TLS handshake timeout|unreachable/i,
  ],
];
/** A node's disk or its runtime refuses what the registry delivered: no fault of the pull. */
const notThePull =
  /no space left|(?<!pull and )unpack|rebase|snapshot|read-only file system|input\/output error|failed to extract|disk quota/i;

const pullFaultOf = (text: string): PullFault => faults.find(([, pattern]) => pattern.test(text))?.[0] ?? 'other';

export const failedPulls = (facts: ClusterFacts, pods: KubeObject[]): FailedPull[] =>
  pods
    .filter((pod) => !isReady(pod))
    .flatMap((pod) =>
      containerStatuses(pod).flatMap((status): FailedPull[] => {
        const waiting = status.state?.waiting;
        const image = containerOf(pod, status.name)?.image ?? status.image ?? '';
        const make = (fault: PullFault, text: string, event?: KubeEvent): FailedPull[] => [
          { pod, container: status.name, image, host: hostOf(text, image), fault, text, event },
        ];
        if (waiting?.reason === 'InvalidImageName') return make('bad-reference', waiting.message ?? '');
        if (waiting?.reason === 'ErrImageNeverPull') return make('never-pulled', waiting.message ?? '');
        if (!/^(ErrImagePull|ImagePullBackOff|RegistryUnavailable|ImageInspectError)$/.test(waiting?.reason ?? ''))
          return [];
        const event = facts
          .eventsAbout(pod, 'Failed')
          .filter(
            (entry) =>
              /pull image/.test(entry.message) &&
              entry.message.includes(image) &&
              minutesBetween(entry.lastAt, facts.now) < 90,
          )
          .at(-1);
        const words = [event?.message, waiting?.message].find((entry) => entry && pullFaultOf(entry) !== 'other');
        const text = words ?? event?.message ?? waiting?.message ?? '';
        return notThePull.test(text) ? [] : make(pullFaultOf(text), text, event);
      }),
    );

const hostOf = (text: string, image: string): string => {
  const asked = /https?:\/\/([^/\s"]+)/.exec(text)?.[1] ?? /dial tcp: lookup (\S+)/.exec(text)?.[1];
  if (asked) return asked;
  const first = image.split('/')[0] ?? '';
  return image.includes('/') && /[.:]/.test(first) ? first : 'docker.io';
};
