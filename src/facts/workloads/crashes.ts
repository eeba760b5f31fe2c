import type { Evidence } from '../../domain/evidence.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { onceFor } from '../lazy.ts';
import { lastWords, type PodLogLine } from '../logs/pod-logs.ts';
import { containerStatuses, isFinished } from '../pods.ts';
import { minutesBetween } from '../time.ts';

/** A container that does not stay up, with all that is known of its last end. */
export interface Crash {
  pod: KubeObject;
  container: string;
  restarts: number;
  /** `CrashLoopBackOff`, `RunContainerError` … while it waits; undefined while it runs again. */
  waiting?: string;
  /** Runtime's words: waiting and termination messages. */
  message: string;
  exitCode?: number;
  reason?: string;
  finishedAt?: string;
  lines: PodLogLine[];
}

/** An end longer ago than this is no crash of now, where the container runs again. */
const recentMinutes = 3 * 60;
const failingToStart = /^(CrashLoopBackOff|RunContainerError|CreateContainerError|StartError|PostStartHookError)$/;

/** Containers of these pods that crash now: waiting to restart, ended with an error, or restarted a short while ago. */
export const crashesOf = (facts: ClusterFacts, pods: KubeObject[]): Crash[] =>
  pods.flatMap((pod) =>
    containerStatuses(pod).flatMap((status): Crash[] => {
      const waiting = status.state?.waiting;
      const ended = status.state?.terminated ?? status.lastState?.terminated;
      const down = failingToStart.test(waiting?.reason ?? '');
      const failed =
        ended &&
        ended.exitCode !== 0 &&
        minutesBetween(ended.finishedAt, facts.now) <= recentMinutes &&
        (pod.status?.phase === 'Failed' ||
          (status.restartCount ?? 0) > 0 ||
          (status.state?.terminated && !isFinished(pod)));
      if (!down && !failed) return [];
      return [
        {
          pod,
          container: status.name,
          restarts: status.restartCount ?? 0,
          waiting: waiting?.reason,
          message: [waiting?.message, ended?.message].filter(Boolean).join(' '),
          exitCode: ended?.exitCode,
          reason: ended?.reason,
          finishedAt: ended?.finishedAt,
          lines: lastWords(facts, pod, status.name),
        },
      ];
    }),
  );

export const citeCrash = (evidence: Cite, crash: Crash): Evidence =>
  evidence.field(
    crash.pod,
    `status.containerStatuses[${crash.container}]`,
    [
      crash.waiting,
      crash.reason ? `last end ${crash.reason}` : '',
      crash.exitCode === undefined ? '' : `exit ${crash.exitCode}`,
      `${crash.restarts} restarts`,
    ]
      .filter(Boolean)
      .join(', '),
    crash.message,
  );

/** The words in which a crash states something: its log's line or the runtime's message. */
export const saying = (crash: Crash, pattern: RegExp): { text: string; line?: PodLogLine } | undefined => {
  const line = crash.lines.findLast((entry) => pattern.test(entry.text));
  if (line) return { text: line.text, line };
  return pattern.test(crash.message) ? { text: crash.message } : undefined;
};

/** Every container that crashes now. */
export const allCrashes = onceFor((facts: ClusterFacts): Crash[] => crashesOf(facts, facts.all('Pod')));
