import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import { errorWindow } from '../../facts/control-plane/apiserver.ts';
import { addMinutes, duration, minutesBetween, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const apiAlert = /^(KubeAPI|KubeClient|etcd|KubeAggregated)/;
/** Quiet for this long after the last 5xx: the burst is over. */
const quietMinutes = 3;
/** API servers are swapped one after the other; a longer outage is no swap. */
const burstMinutes = 12;
/** AWS names up to an hour for a version update of a control plane. */
const updateMinutes = 60;

export default rule({
  title: 'A short burst of API errors that has ended: API servers swapped in a managed update, or a blip',
  lookAlikes: ['errors that go on', 'readiness that fails now'],
  judge(facts) {
    const isApi = facts.alerts.some((alert) => apiAlert.test(alert.labels.alertname ?? ''));
    const ready = facts.probe('readyz');
    const burst = errorWindow(facts);
    if (!isApi || ready?.status !== 200 || ready.latencyMs > 1000) return [];
    const update = runningUpdate(facts);
    const now = toMs(facts.now) / 1000;
    const over = burst ? (now - burst.to) / 60 >= quietMinutes : update !== undefined;
    const length = burst ? Math.max(1, (burst.to - burst.from) / 60) : 0;
    if (!over || length > burstMinutes || (!update && !burst)) return [];
    const evidence = cite('cloud', facts);
    const words = burst
      ? `answered 5xx for ${duration(length)} and stopped ${duration((now - burst.to) / 60)} ago`
      : 'answers normally';
    return [
      {
        mechanism: 'control-plane',
        explains: [
          'controller-down',
          'crash',
          'etcd',
          'api-flood',
          'webhook',
          'node-silent',
          'unknown-symptom',
          'node-churn',
        ],
        state: update ? 'expected' : 'over',
        owner: 'cloud',
        boundary: 'control-plane',
        strength: update ? 'direct' : 'derived',
        cause: text(
          update
            ? `The control plane is being updated (${update.type}${update.version ? ` to ${update.version}` : ''}, running for ${duration(update.minutes)}); API servers are swapped: they ${words}, readyz is ok in ${ready.latencyMs} ms.`
            : `The API server ${words}; readyz is ok in ${ready.latencyMs} ms.`,
        ),
        root: { kind: 'APIServer', name: facts.identity.name },
        affects: 'cluster',
        onset: burst ? new Date(burst.from * 1000).toISOString() : update?.at,
        evidence: [
          ...(update ? update.evidence : []),
          ...(burst ? [evidence.series(burst.series, words)] : []),
          evidence.probe(ready),
        ],
        chain: [
          { object: `Control plane of ${facts.identity.name}`, claim: update ? `${update.type} in progress` : words },
        ],
        nextSteps: [
          text(
            update
              ? `Look again when the update has ended: aws eks describe-update --name ${facts.identity.name} --update-id ${update.id}`
              : 'Nothing to do now; if it returns, compare with the control plane log of that minute.',
          ),
        ],
        deadline: update ? latest(addMinutes(update.at, updateMinutes), addMinutes(facts.now, 15)) : undefined,
      },
    ];
  },
});

const latest = (a: string, b: string): string => (a > b ? a : b);

const runningUpdate = (facts: Parameters<typeof cite>[1]) => {
  const update = facts.cloud('eks.describeUpdate')?.update;
  const cluster = facts.cloud('eks.describeCluster')?.cluster;
  const running =
    update?.status === 'InProgress' && /Version|Config|Platform|AutoMode|Authority|Scaling/.test(update.type ?? '');
  if (!running && cluster?.status !== 'UPDATING') return undefined;
  const evidence = cite('cloud', facts);
  const at: string = (running ? update.createdAt : undefined) ?? facts.now;
  return {
    id: running ? update.id : '',
    type: running ? update.type : 'UPDATING',
    version: (update?.params ?? []).find((parameter: any) => parameter.type === 'Version')?.value,
    at,
    minutes: minutesBetween(at, facts.now),
    evidence: [
      ...(running
        ? [
            evidence.aws(
              'eks.describeUpdate',
              'update',
              `${update.type} ${update.status}`,
              JSON.stringify(update.params ?? []),
              update.createdAt,
            ),
          ]
        : []),
      ...(cluster ? [evidence.aws('eks.describeCluster', 'cluster.status', cluster.status)] : []),
    ],
  };
};
