import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { type LogLine, lastPerPod, linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { failedReads, readEvidence } from '../../facts/logs/witness.ts';
import { groupOf } from '../../facts/nodes/nodes.ts';
import { isPlatformNamespace } from '../../facts/ownership.ts';
import { controlPlaneOwner, isManaged, vendorOf } from '../../facts/provider.ts';
import { firstValue, lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A client of the API server that does not trust it, or is not trusted, in client-go's words. */
const refusal =
  /x509: certificate signed by unknown authority|x509: certificate has expired|has asked for the client to provide credentials|: Unauthorized\b/;
/** The line must be about the API server: its paths, or typed reads of it. */
const toApiServer = /https:\/\/[^" ]+\/(api|apis)\/|reflector\.go|\(get |\(post |\(patch |list \*v\d/;
const throughWebhook = /failed calling webhook|failed to call webhook/;

export default rule({
  title: 'Clients on several nodes do not trust the API server, or valid credentials are refused',
  lookAlikes: [
    'one node or one pool only: that pool’s bootstrap data',
    'x509 in a webhook call: the webhook’s certificate',
    'an application’s TLS error to some other host',
  ],
  judge(facts) {
    const lines = lastPerPod(
      linesLike(facts, refusal, (log) => isPlatformNamespace(log.namespace)).filter(
        ({ line }) => toApiServer.test(line) && !throughWebhook.test(line),
      ),
    );
    const nodes = new Set(
      lines.map(({ log }) => facts.find('Pod', log.pod, log.namespace)?.spec?.nodeName).filter(Boolean),
    );
    if (nodes.size < 2) return [];
    const groupOfName = (name: string): string => {
      const node = facts.find('Node', name);
      return (node && groupOf(node)) ?? name;
    };
    const groups = new Set([...nodes].map(groupOfName));
    const allGroups = new Set(facts.all('Node').map((node) => groupOf(node) ?? node.metadata.name));
    const ready = facts.probe('readyz');
    const rejected = facts
      .seriesLike(/^apiserver_request_total/)
      .filter((series) => series.labels.code === '401' && lastValue(series) > firstValue(series));
    const strong = Boolean(ready && ready.status !== 200) || rejected.length > 0;
    const elsewhere = facts.all('Node').filter((node) => !groups.has(groupOf(node) ?? node.metadata.name));
    const one = groups.size === 1 && allGroups.size > 1 && !strong && elsewhere.every((node) => isTrue(node, 'Ready'));
    const owner = one ? 'platform' : controlPlaneOwner(facts);
    const evidence = cite(owner, facts);
    return [
      {
        mechanism: 'certificate',
        explains: [
          'control-plane',
          'node-silent',
          'controller-down',
          'crash',
          'network',
          'pending',
          'eviction',
          'unknown-symptom',
        ],
        owner,
        boundary: one ? 'node' : 'control-plane',
        strength: strong && !one ? 'direct' : 'derived',
        cause: text(
          one
            ? `Nodes of ${[...groups][0]} alone do not trust the API server: their bootstrap data holds another certificate authority.`
            : `The ${isManaged(facts) ? 'managed ' : ''}API server answers with certificates or refusals that clients on ${nodes.size} nodes cannot accept: ${excerpt(lines[0]!)}.`,
        ),
        root: { kind: 'APIServer', name: facts.identity.name },
        affects: 'cluster',
        onset: onsetOf(facts, lines),
        evidence: [
          ...distinct(lines).map((entry) => evidence.log(entry.log, entry.line)),
          ...(ready ? [evidence.probe(ready)] : []),
          ...rejected.slice(0, 1).map((series) => evidence.series(series, `401 answers rose to ${lastValue(series)}`)),
          ...failedReads(facts, /50\d/)
            .slice(0, 1)
            .map((read) => readEvidence(owner, facts, read)),
        ],
        chain: [
          {
            object: `API server of ${facts.identity.name}`,
            claim: 'certificate not signed by the cluster’s authority, or credentials refused',
          },
        ],
        nextSteps: [
          text(
            isManaged(facts)
              ? `Open a severity-1 case with ${vendorOf(facts)}: API server certificates of ${facts.identity.name} are inconsistent.`
              : 'Compare the serving certificate and CA of each API server: openssl s_client -connect <apiserver>:6443 -showcerts',
          ),
        ],
      },
    ];
  },
});

const excerpt = (entry: LogLine): string => `"${refusal.exec(entry.line)?.[0].replace(/^: /, '') ?? ''}"`;

/** One line per kind of refusal and pod kind, so that both sides of the trouble show. */
const distinct = (lines: LogLine[]): LogLine[] => {
  const all = lines.flatMap(({ log }) =>
    log.text
      .split('\n')
      .filter((line) => refusal.test(line))
      .map((line) => ({ log, line })),
  );
  return [...new Map(all.map((entry) => [refusal.exec(entry.line)![0], entry])).values()].slice(0, 3);
};

const onsetOf = (facts: ClusterFacts, lines: LogLine[]): string | undefined =>
  earliest(...distinct(lines).map((entry) => timeOf(entry.line, facts.now)));
