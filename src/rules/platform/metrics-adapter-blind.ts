import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { scalingFailure, targetOf } from '../../facts/capacity/autoscalers.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isNotTrue, isTrue } from '../../facts/conditions.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { isReady } from '../../facts/pods.ts';
import { earliest, toMs } from '../../facts/time.ts';
import { backendsNamed } from '../../facts/workloads/dependencies.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const groupOf: Record<string, string> = {
  FailedGetPodsMetric: 'custom.metrics.k8s.io',
  FailedGetObjectMetric: 'custom.metrics.k8s.io',
  FailedGetExternalMetric: 'external.metrics.k8s.io',
};
/** The adapter says that it cannot ask the system behind it. */
const cannotAsk =
  /(?:unable to|failed to|error|could not|cannot)[^\n]{0,400}?(?:no such host|connection refused|i\/o timeout|deadline exceeded|timed out|x509|certificate|\b40[13]\b|\b50[0234]\b|unauthorized|forbidden|no route to host)/i;
/** Autoscalers that stop in the same quarter of an hour stop for one reason. */
const togetherMs = 15 * 60_000;

export default rule({
  title:
    'The adapter behind the custom or external metrics API answers and knows no metric: no autoscaler on it computes',
  lookAlikes: [
    'the APIService is not Available: the adapter itself is down',
    'one autoscaler follows a metric that its application no longer exports, others compute',
    'one ScaledObject whose trigger is refused: its own credentials',
  ],
  judge(facts, scope) {
    const failing = facts.all('HorizontalPodAutoscaler').flatMap((hpa) => {
      const group = groupOf[scalingFailure(facts, hpa)?.reason ?? ''];
      return group ? [{ hpa, group, since: condition(hpa, 'ScalingActive')?.lastTransitionTime }] : [];
    });
    const groups = [...new Set(failing.filter(({ hpa }) => scope.has(refOf(hpa))).map(({ group }) => group))];
    return groups.flatMap((group) =>
      adapterFinding(
        facts,
        group,
        failing.filter((entry) => entry.group === group),
      ),
    );
  },
});

const adapterFinding = (
  facts: ClusterFacts,
  group: string,
  failing: { hpa: KubeObject; since?: string }[],
): FindingDraft[] => {
  const service = facts.all('APIService').find((entry) => entry.spec?.group === group);
  const { name, namespace } = service?.spec?.service ?? {};
  const adapter = name ? backendsNamed(facts, `${name}.${namespace}.svc`, namespace)[0] : undefined;
  const workload = adapter ?? facts.find('Deployment', name, namespace);
  // A service that is not available, or whose pods are down, is another rule's matter: the API itself does not answer.
  const down = isNotTrue(service, 'Available') || (workload && !facts.podsOf(workload).some(isReady));
  if (down) return [];
  const lines = workload ? grep(facts, facts.podsOf(workload), cannotAsk) : [];
  const since = earliest(...failing.map((entry) => entry.since));
  const together = failing.every(({ since: at }) => !at || toMs(at) - toMs(since) <= togetherMs);
  const spaces = new Set(failing.map(({ hpa }) => hpa.metadata.namespace));
  const others = facts
    .all('HorizontalPodAutoscaler')
    .filter((hpa) => follows(hpa, group) && isTrue(hpa, 'ScalingActive'));
  const shared = spaces.size > 1 && together && others.length === 0;
  // KEDA's log tells of each trigger by itself: one namespace's errors there are that namespace's.
  const blind = lines.length > 0 && others.length === 0 && !/keda/i.test(workload?.metadata.name ?? '');
  if (!shared && !blind) return [];
  const evidence = cite('platform', facts);
  const root = workload ?? service ?? failing[0]!.hpa;
  const why = lines.at(-1)?.text.slice(-180);
  return [
    {
      mechanism: 'scaling-metrics',
      explains: ['scaling-metrics', 'application-error', 'load', 'scaling-limit', 'throttling', 'unknown-symptom'],
      owner: 'platform',
      boundary: 'autoscaling',
      strength: blind && shared ? 'direct' : 'derived',
      cause: text(
        `${failing.length} autoscaler${failing.length === 1 ? '' : 's'} of ${[...spaces].join(', ')} cannot compute since ${since ?? 'some time'}: ${nameOf(root)} serves ${group} and ${why ? `cannot ask what it gets its metrics from (“${why}”)` : 'knows none of their metrics'}.`,
      ),
      root: refOf(root),
      affects: failing
        .flatMap(({ hpa }) => [hpa, targetOf(facts, hpa)])
        .filter((object) => object !== undefined)
        .map(refOf),
      onset: since,
      evidence: [
        ...failing.slice(0, 3).map(({ hpa }) => evidence.condition(hpa, 'ScalingActive')),
        ...(service ? [evidence.condition(service, 'Available')] : []),
        ...lines.slice(-2).map((line) => evidence.log(line.log, line.text)),
        ...(workload ? [evidence.field(workload, 'metadata.name')] : []),
      ],
      chain: [
        link(root, why ? 'cannot read its metrics' : 'knows no metric'),
        ...failing.slice(0, 3).map(({ hpa }) => link(hpa, 'computes no replicas')),
      ],
      contributing: [],
      nextSteps: [
        text(
          `kubectl logs -n ${namespace ?? '<namespace>'} deployment/${workload?.metadata.name ?? name ?? '<adapter>'} --since=1h; correct the address or credentials of its metrics source.`,
        ),
        text(`kubectl get --raw /apis/${group}/v1beta1 | head -c 600 shows which metrics it knows.`),
      ],
    },
  ];
};

const follows = (hpa: KubeObject, group: string): boolean =>
  (hpa.spec?.metrics ?? []).some((metric: any) =>
    group.startsWith('external') ? metric.external : metric.pods || metric.object,
  );
