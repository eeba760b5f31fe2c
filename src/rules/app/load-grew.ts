import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { hpaOf, trafficGrowth } from '../../facts/capacity/growth.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { servedBy } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Requests that grew by more than this are worth naming as a cause. */
const surge = 1.8;
const aboutLoad = /latency|slow|duration|p9\d|error|5xx|cpu|saturat|queue|throttl|unavailab|availab/i;

export default rule({
  title: 'Fallback: a workload is slow or failing while its requests multiplied, and its replicas did not follow',
  lookAlikes: ['requests as before: not load', 'retries of callers that fail for another reason look like load'],
  judge(facts, scope) {
    const words = facts.alerts
      .map((alert) => `${alert.labels.alertname} ${Object.values(alert.annotations).join(' ')}`)
      .join(' ');
    if (!aboutLoad.test(words)) return [];
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      const traffic = trafficGrowth(facts, workload);
      if (!traffic || traffic.factor < surge) return [];
      const hpa = hpaOf(facts, workload);
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: 'load',
          explains: ['unknown-symptom', 'throttling'],
          owner,
          boundary: 'traffic',
          strength: 'circumstantial',
          cause: text(
            `Requests to ${nameOf(workload)} grew ${traffic.factor.toFixed(1)}-fold while it runs ${workload.spec?.replicas ?? 'the same number of'} replicas${hpa ? '' : ' and has no autoscaler'}.`,
          ),
          root: refOf(workload),
          affects: [...servedBy(facts, workload)].map(refOf),
          evidence: [
            evidence.series(traffic.series, `requests per second × ${traffic.factor.toFixed(2)}`),
            evidence.field(workload, 'spec.replicas'),
            ...(hpa ? [evidence.field(hpa, 'status')] : []),
          ],
          chain: [link(workload, `gets ${traffic.factor.toFixed(1)} times the requests`)],
          contributing: [],
          nextSteps: [
            text(
              `Find the callers, and scale for now: kubectl scale ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace} --replicas=<n>`,
            ),
          ],
        },
      ];
    });
  },
});
