import { expect } from 'vitest';
import type { Alert, Subject } from '../../src/domain/alert.ts';
import type {
  CloudAnswer,
  CloudWatchSeries,
  ContainerLog,
  Facts,
  ProbeAnswer,
  ReadRecord,
  Series,
} from '../../src/domain/facts.ts';
import type { Finding } from '../../src/domain/finding.ts';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import type { Provider } from '../../src/domain/layer.ts';
import { judge } from '../../src/triage/judge.ts';
import type { Rule, RuleDefinition } from '../../src/triage/rule.ts';

/** A small made-up situation: only what the rule under test looks at. */
export interface Situation {
  provider?: Provider;
  now?: string;
  subject: Omit<Subject, 'cluster'>;
  objects?: KubeObject[];
  alerts?: Alert[];
  logs?: ContainerLog[];
  series?: Series[];
  cloud?: CloudAnswer[];
  cloudWatch?: CloudWatchSeries[];
  probes?: ProbeAnswer[];
  /** Plurals, calls and metrics that count as read although empty. */
  read?: string[];
  /** Plurals and calls that were refused. */
  denied?: string[];
}

export const now = '2026-11-20T08:30:00Z';

export const factsOf = (situation: Situation): Facts => {
  const subject = { cluster: 'test', ...situation.subject };
  const read = (what: string): ReadRecord => ({ source: 'kubernetes', what, complete: true, count: 0 });
  const denied = (what: string): ReadRecord => ({
    ...read(what),
    gap: { reason: 'forbidden', message: `cannot list ${what}`, fix: `grant list ${what}` },
  });
  return {
    now: situation.now ?? now,
    cluster: { name: 'test', provider: situation.provider ?? 'eks', region: 'us-west-2' },
    subject,
    subjects: [subject],
    alerts: situation.alerts ?? [],
    objects: situation.objects ?? [],
    logs: situation.logs ?? [],
    series: situation.series ?? [],
    cloud: situation.cloud ?? [],
    cloudWatch: situation.cloudWatch ?? [],
    probes: situation.probes ?? [],
    reads: [...(situation.read ?? []).map(read), ...(situation.denied ?? []).map(denied)],
    apiCalls: 0,
  };
};

/** What one rule says about a situation, as the engine would run it. */
export const findingsOf = (definition: RuleDefinition, situation: Situation): Finding[] => {
  const tested: Rule = { ...definition, id: 'tested', layer: 'app' };
  return judge([tested], factsOf(situation)).findings;
};

export const expectSilent = (definition: RuleDefinition, situation: Situation): void => {
  expect(findingsOf(definition, situation).map((finding) => finding.cause.en)).toEqual([]);
};

/** The shortest way to an object of any kind. */
export const object = (kind: string, name: string, rest: Record<string, any> = {}): KubeObject => {
  const { namespace, labels, annotations, ownerReferences, creationTimestamp, ...fields } = rest;
  return {
    apiVersion: rest.apiVersion ?? 'v1',
    kind,
    metadata: {
      name,
      namespace,
      labels,
      annotations,
      ownerReferences,
      creationTimestamp,
      uid: rest.uid ?? `uid-${kind}-${name}`,
    },
    ...fields,
  };
};

export const event = (
  regarding: KubeObject,
  reason: string,
  message: string,
  rest: Record<string, any> = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: {
    name: `${regarding.metadata.name}.${reason}.${rest.name ?? message.length}`,
    namespace: regarding.metadata.namespace ?? 'default',
    uid: `uid-event-${regarding.metadata.name}-${reason}-${message.length}`,
    creationTimestamp: rest.at ?? '2026-11-20T08:20:00Z',
  },
  involvedObject: {
    kind: regarding.kind,
    name: regarding.metadata.name,
    namespace: regarding.metadata.namespace,
    uid: regarding.metadata.uid,
  },
  type: rest.type ?? 'Warning',
  reason,
  message,
  count: rest.count ?? 1,
  firstTimestamp: rest.firstAt ?? rest.at ?? '2026-11-20T08:20:00Z',
  lastTimestamp: rest.at ?? '2026-11-20T08:20:00Z',
  reportingComponent: rest.source ?? 'kubelet',
});

export const condition = (
  type: string,
  status: string,
  reason = '',
  message = '',
  lastTransitionTime = '2026-11-20T08:10:00Z',
) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime,
});
