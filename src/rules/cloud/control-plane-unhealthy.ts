import { text } from '../../domain/text.ts';
import { openIssues } from '../../facts/aws.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { etcdTimeouts, failedChecks, isSpaceExceeded } from '../../facts/control-plane/apiserver.ts';
import { isFilling } from '../../facts/control-plane/storage-growth.ts';
import { deadWebhooks, webhookFailures } from '../../facts/control-plane/webhooks.ts';
import { lastPerPod, linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { readEvidence } from '../../facts/logs/witness.ts';
import { controlPlaneOwner, isManaged, vendorOf } from '../../facts/provider.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Answers of a gateway or load balancer in front of an API server that is gone. */
const frontEnd =
  /upstream connect error|connection (timeout|refused|reset)|no healthy upstream|bad gateway|EOF|service unavailable/i;
/** Above this a probe that does nothing but answer shows a server in trouble. */
const slowMs = 5000;

export default rule({
  title: 'The API server or its etcd is unhealthy: readiness fails, or every client’s calls end in etcd timeouts',
  lookAlikes: [
    'etcd refuses writes for lack of space: whose objects fill it is another question',
    'only start hooks fail while an own webhook cannot be called',
    'one client that is throttled or misconfigured',
  ],
  judge(facts) {
    if (isSpaceExceeded(facts) || isFilling(facts)) return [];
    const checks = failedChecks(facts);
    const ready = facts.probe('readyz');
    const { lines, reads } = etcdTimeouts(facts);
    const etcdFails = checks.some((check) => /^etcd/.test(check));
    const witnesses = lastPerPod(lines);
    const down = ready !== undefined && ready.status !== 200 && ready.status !== 401 && ready.status !== 403;
    const hooksOnly = checks.length > 0 && checks.every((check) => check.startsWith('poststarthook/'));
    // The key provider is asked with the customer's own key: what it lost is another question.
    if (checks.length > 0 && checks.every((check) => /^kms-provider/.test(check))) return [];
    if (hooksOnly && webhookFailures(facts).length + deadWebhooks(facts).length > 0) return [];
    const etcd = etcdFails || (witnesses.length + (reads.length > 0 ? 1 : 0) >= 2 && !down);
    if (!etcd && !down && !(ready && ready.latencyMs >= slowMs)) return [];
    const owner = controlPlaneOwner(facts);
    const evidence = cite(owner, facts);
    const issue = openIssues(facts, /EKS|EC2/)[0];
    const sizeKnown = facts.seriesLike(/^(apiserver_storage_size|etcd_(mvcc_)?db_total)/).length > 0;
    const gateway = down && frontEnd.test(ready.body);
    const what = etcd
      ? `The ${isManaged(facts) ? 'managed ' : ''}API server cannot reach its etcd${etcdFails ? ': readiness fails on the etcd check' : ''}${witnesses.length > 0 || reads.length > 0 ? ' and calls end in "etcdserver: request timed out"' : ''}`
      : `The ${isManaged(facts) ? 'managed ' : ''}API server is not ready: /readyz answers HTTP ${ready?.status} in ${ready?.latencyMs} ms${checks.length > 0 ? ` (${checks.join(', ')} failed)` : ''}`;
    return [
      {
        mechanism: etcd ? 'etcd' : 'control-plane',
        explains: [
          'control-plane',
          'controller-down',
          'node-silent',
          'crash',
          'pending',
          'scheduling',
          'webhook',
          'scaling-metrics',
          'rollout',
          'unknown-symptom',
        ],
        owner,
        boundary: etcd && !isManaged(facts) ? 'etcd' : 'control-plane',
        // On a managed plane most etcd trouble is made of the customer's objects: only a size that was read rules that out.
        strength: gateway || (etcd && (!isManaged(facts) || sizeKnown || witnesses.length > 0)) ? 'direct' : 'derived',
        cause: text(`${what}.`),
        root: { kind: 'APIServer', name: facts.identity.name },
        affects: 'cluster',
        onset: earliest(...lines.map((entry) => timeOf(entry.line, facts.now))),
        evidence: [
          ...(ready ? [evidence.probe(ready)] : []),
          ...witnesses.slice(0, 3).map((entry) => evidence.log(entry.log, entry.line)),
          ...reads.slice(0, 2).map((read) => readEvidence(owner, facts, read)),
          ...(etcd && !isManaged(facts) ? etcdEvidence(facts) : []),
          ...facts
            .series('apiserver_request_total')
            .filter((series) => /^5/.test(series.labels.code ?? ''))
            .slice(0, 2)
            .map((series) =>
              evidence.series(series, `5xx answers to ${series.labels.verb ?? ''} ${series.labels.resource ?? ''}`),
            ),
          ...(issue
            ? [evidence.aws('health.describeEvents', 'events', issue.code, issue.description, issue.startedAt)]
            : []),
        ],
        chain: [{ object: `API server of ${facts.identity.name}`, claim: what }],
        nextSteps: [
          text(
            isManaged(facts)
              ? `Open a severity-1 case with ${vendorOf(facts)}: control plane of ${facts.identity.name} unhealthy, attach kubectl get --raw '/readyz?verbose'.`
              : 'On a control plane node: etcdctl endpoint status --cluster -w table; check disk latency, leader and member health.',
          ),
        ],
      },
    ];
  },
});

/** What an own etcd says of its disk and its peers. */
const etcdWords =
  /slow fdatasync|took too long|leader failed to send out heartbeat|lost leader|no leader|no space left/;

const etcdEvidence = (facts: ClusterFacts) => {
  const evidence = cite('platform', facts);
  return [
    ...lastPerPod(linesLike(facts, etcdWords, (log) => log.pod.startsWith('etcd')))
      .slice(0, 2)
      .map((entry) => evidence.log(entry.log, entry.line)),
    ...facts
      .seriesLike(/^etcd_disk_(wal_fsync|backend_commit)_duration_seconds/)
      .filter((series) => lastValue(series) > 0.5 && /p9|quantile/.test(series.name + Object.keys(series.labels)))
      .slice(0, 2)
      .map((series) => evidence.series(series, `${lastValue(series)} s`)),
  ];
};
