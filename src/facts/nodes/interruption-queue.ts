import type { Evidence } from '../../domain/evidence.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { linesOf } from '../logs/log-search.ts';
import { podSpecOf } from '../pods.ts';
import { maxValue } from '../series.ts';

/** Whether a spot warning can reach the node controller, link by link. */
export interface InterruptionPath {
  state: 'complete' | 'no-queue' | 'no-rule' | 'unused-queue' | 'refused';
  controller: KubeObject;
  says: string;
  fix: string;
  evidence(cite: Cite): Evidence[];
}

const warning = /Spot Instance Interruption Warning/;

/** Undefined where no Karpenter is seen: other controllers have other ways. */
export const interruptionPath = (facts: ClusterFacts): InterruptionPath | undefined => {
  const controller = [...facts.all('Deployment'), ...facts.all('Pod')].find(isController);
  if (!controller) return undefined;
  const queue = queueOf(controller);
  const setting = (evidence: Cite): Evidence =>
    evidence.field(
      controller,
      'spec.containers[].env[INTERRUPTION_QUEUE]',
      queue === undefined ? 'not set' : queue === '' ? '"" (empty)' : queue,
      'INTERRUPTION_QUEUE',
    );
  const refusal = refusalOf(facts);
  if (!queue)
    return {
      state: 'no-queue',
      controller,
      says: 'Karpenter runs without an interruption queue (INTERRUPTION_QUEUE is empty)',
      fix: 'Create the interruption queue with its EventBridge rules and set settings.interruptionQueue of Karpenter to its name.',
      evidence: (evidence) => [setting(evidence)],
    };
  if (refusal)
    return {
      state: 'refused',
      controller,
      says: `Karpenter cannot read its interruption queue ${queue}`,
      fix: `Let Karpenter’s role read queue ${queue} (sqs:ReceiveMessage, sqs:DeleteMessage, sqs:GetQueueUrl), and check its name.`,
      evidence: (evidence) => [setting(evidence), evidence.log(refusal.log, refusal.line)],
    };
  return {
    ...rulesOf(facts, controller, queue),
    evidence: (evidence) => [setting(evidence), ...ruleEvidence(facts, queue, evidence)],
  };
};

const isController = (object: KubeObject): boolean => {
  const containers: any[] = podSpecOf(object)?.containers ?? [];
  return containers.some(
    (container) =>
      /karpenter\/(controller|karpenter)/.test(container.image ?? '') ||
      (/^karpenter/.test(object.metadata.name) && container.name === 'controller'),
  );
};

const queueOf = (controller: KubeObject): string | undefined => {
  const containers: any[] = podSpecOf(controller)?.containers ?? [];
  const variable = containers
    .flatMap((container) => container.env ?? [])
    .find((entry: any) => entry.name === 'INTERRUPTION_QUEUE');
  const argument = containers
    .flatMap((container) => container.args ?? [])
    .map((entry: string) => /^--interruption-queue=(.*)$/.exec(entry)?.[1])
    .find((value: string | undefined) => value !== undefined);
  return variable?.value ?? argument;
};

const refusalOf = (facts: ClusterFacts) =>
  facts.logs
    .filter((log) => /^karpenter/.test(log.pod))
    .flatMap((log) => linesOf(log).map((line) => ({ log, line })))
    .find(({ line }) =>
      /failed to create valid sqs provider|NonExistentQueue|sqs:\w+.{0,80}not authorized|not authorized.{0,200}sqs:/i.test(
        line,
      ),
    );

const rulesOf = (facts: ClusterFacts, controller: KubeObject, queue: string): Omit<InterruptionPath, 'evidence'> => {
  const rules: any[] | undefined = facts.cloud('events.listRules')?.Rules;
  const routed = rules?.some(
    (rule) => rule.State !== 'DISABLED' && (warning.test(rule.EventPattern ?? '') || catchesAll(rule.EventPattern)),
  );
  const fix = `Add an enabled EventBridge rule for “EC2 Spot Instance Interruption Warning” with queue ${queue} as target.`;
  if (rules && !routed)
    return {
      state: 'no-rule',
      controller,
      says: `queue ${queue} is set, but no enabled EventBridge rule routes spot interruption warnings to it`,
      fix,
    };
  const sent = facts
    .cloudWatch('AWS/SQS', 'NumberOfMessagesSent')
    .find((series) => series.dimensions.QueueName === queue);
  const quiet = sent && sent.points.length > 3 && sent.points.every(([, value]) => value === 0);
  const received = facts.series('karpenter_interruption_received_messages_total');
  const nothing = received.length > 0 && received.every((series) => maxValue(series) === 0);
  if (quiet || nothing)
    return { state: 'unused-queue', controller, says: `queue ${queue} is set, but no message ever reached it`, fix };
  return { state: 'complete', controller, says: `queue ${queue} is set`, fix };
};

/** A pattern that takes every EC2 event also takes the warning. */
const catchesAll = (pattern: string | undefined): boolean =>
  pattern !== undefined && /"aws\.ec2"/.test(pattern) && !/detail-type/.test(pattern);

const ruleEvidence = (facts: ClusterFacts, queue: string, evidence: Cite): Evidence[] => {
  const rules: any[] | undefined = facts.cloud('events.listRules')?.Rules;
  const sent = facts
    .cloudWatch('AWS/SQS', 'NumberOfMessagesSent')
    .find((series) => series.dimensions.QueueName === queue);
  return [
    ...(rules
      ? [
          evidence.aws(
            'events.listRules',
            'Rules',
            rules.map((rule) => `${rule.Name} ${rule.State}: ${rule.EventPattern}`).join(' | ') || 'none',
            'EventBridge rules',
          ),
        ]
      : []),
    ...(sent
      ? [
          evidence.cloudWatch(
            sent,
            `${sent.points.reduce((total, [, value]) => total + value, 0)} messages in ${sent.points.length} periods`,
          ),
        ]
      : []),
  ];
};
