import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { grep, loggedPods, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What programs say of moments that have not come yet, or are long gone, by the machine's clock. */
const ahead =
  /token used before (issued|valid)|token is not valid yet|(token|certificate|assertion|signature)[^\n]{0,60}not yet valid|\biat\b[^\n]{0,40}future|issued in the future|RequestTimeTooSkewed|clock skew|skew too great|Signature not yet current|Signature expired[^\n]*is now earlier|KRB_AP_ERR_SKEW/i;
/** Tokens allow for a minute or less; a disciplined clock is within milliseconds. */
const offsetSeconds = 1;

export default rule({
  title: 'The clock of a node is wrong: tokens and certificates there look not yet valid, or long expired',
  lookAlikes: [
    'pods on every node complain alike: the issuer or its peer has the wrong time',
    'one workload alone complains and the clock is not measured: its own configuration may be the reason',
  ],
  judge(facts) {
    const nodes = facts.all('Node');
    const words = nodes.map((node) => ({ node, lines: complaints(facts, node) }));
    const complaining = words.filter((entry) => entry.lines.length > 0).length;
    return words.flatMap(({ node, lines }) => {
      const measured = clockOf(facts, node);
      const witnesses = new Set(lines.map((line) => facts.workloadOf(podBehind(facts, line)!)));
      const elsewhere = complaining * 2 > nodes.length;
      if (elsewhere || !(measured || witnesses.size > 1)) return [];
      return lines.length > 0 ? [finding(facts, node, lines, measured)] : [];
    });
  },
});

const complaints = (facts: ClusterFacts, node: KubeObject): PodLogLine[] =>
  grep(
    facts,
    loggedPods(facts).filter((pod) => pod.spec?.nodeName === node.metadata.name),
    ahead,
  );

const podBehind = (facts: ClusterFacts, line: PodLogLine): KubeObject | undefined =>
  facts.find('Pod', line.log.pod, line.log.namespace);

const clockOf = (facts: ClusterFacts, node: KubeObject) => {
  const ofNode = (labels: Record<string, string>): boolean =>
    [labels.node, labels.nodename, labels.instance?.replace(/:\d+$/, '')].some(
      (name) => name === node.metadata.name || isAddressOf(node, name),
    );
  const series = facts
    .seriesLike(/^node_timex_(offset_seconds|sync_status)$/)
    .find(
      (entry) =>
        ofNode(entry.labels) &&
        (entry.name === 'node_timex_sync_status'
          ? lastValue(entry) === 0
          : Math.abs(lastValue(entry)) >= offsetSeconds),
    );
  const problem = ['NTPProblem', 'ClockSkew', 'TimeNotSynchronized'].find(
    (type) => condition(node, type)?.status === 'True',
  );
  return series || problem ? { series, problem } : undefined;
};

const isAddressOf = (node: KubeObject, name: string | undefined): boolean =>
  (node.status?.addresses ?? []).some((address: any) => address.address === name);

const finding = (
  facts: ClusterFacts,
  node: KubeObject,
  lines: PodLogLine[],
  measured: ReturnType<typeof clockOf>,
): FindingDraft => {
  const evidence = cite('platform', facts);
  const pods = [...new Set(lines.map((line) => podBehind(facts, line)!))];
  const perPod = new Map(lines.map((line) => [line.log.pod, line]));
  return {
    mechanism: 'node-runtime',
    explains: [
      'probe',
      'application-error',
      'dependency',
      'crash',
      'identity',
      'certificate',
      'rollout',
      'unknown-symptom',
    ],
    owner: 'platform',
    boundary: 'node',
    strength: measured ? 'direct' : 'derived',
    cause: text(
      `The clock of node ${node.metadata.name} is wrong${measured?.series ? ` (${measured.series.name} ${lastValue(measured.series)})` : ''}: ${pods.length} pods there take what is valid now for not yet valid; pods on other nodes do not.`,
    ),
    root: refOf(node),
    affects: [node, ...pods, ...new Set(pods.map((pod) => facts.workloadOf(pod)))].map(refOf),
    onset: earliest(...lines.map((line) => line.at)),
    evidence: [
      ...(measured?.series ? [evidence.series(measured.series, String(lastValue(measured.series)))] : []),
      ...(measured?.problem ? [evidence.condition(node, measured.problem)] : []),
      ...[...perPod.values()].slice(0, 4).map((line) => evidence.log(line.log, line.text)),
    ],
    chain: [
      link(node, 'has a clock that is not synchronised'),
      ...pods.slice(0, 3).map((pod) => link(pod, 'refuses tokens or signatures by that clock')),
    ],
    nextSteps: [
      text(`Synchronise the clock of ${node.metadata.name}: chronyc tracking; timedatectl status`),
      text(`kubectl cordon ${node.metadata.name} and restart the affected pods elsewhere until it is right.`),
    ],
  };
};
