import type { Alert } from '../../domain/alert.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { isReady } from '../../facts/pods.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Rules that fire because a series is missing. */
const aboutAbsence =
  /absent|missing|no (data|metric|heartbeat)|heartbeat|disappeared|not (seen|reported|received)|stale/i;
const server = /^(prometheus|vmsingle|vmagent|vmstorage|thanos-receive|mimir-ingester)/;
const replay =
  /Replaying WAL|WAL replay completed|Server is ready to receive web requests|Completed loading of configuration/;
/** A restart this long before a rule fires, by its `for` and the replay, may have made the gap. */
const beforeMinutes = 30;

export default rule({
  title: 'An alert about a missing series fired while the monitoring itself restarted, and has resolved',
  lookAlikes: ['it still fires: what it misses may really be missing', 'the monitoring ran all the time'],
  judge(facts) {
    const { alerts } = facts;
    if (alerts.length === 0 || !alerts.every((alert) => alert.status === 'resolved' && isAboutAbsence(alert)))
      return [];
    const fired = alerts.map((alert) => alert.startsAt).sort()[0]!;
    const restarted = facts
      .all('Pod')
      .filter((pod) => server.test(pod.metadata.name) && isReady(pod))
      .find((pod) => {
        const minutes = minutesBetween(startOf(pod), fired);
        return minutes >= 0 && minutes <= beforeMinutes;
      });
    if (!restarted) return [];
    const evidence = cite('platform', facts);
    const lines = linesLike(facts, replay, (log) => log.pod === restarted.metadata.name);
    const workload = facts.workloadOf(restarted);
    const jobs = facts.all('Job').filter((job) => minutesBetween(job.status?.completionTime, facts.now) < 120);
    const words = alerts.map((alert) => Object.values({ ...alert.labels, ...alert.annotations }).join(' ')).join(' ');
    return [
      {
        mechanism: 'heartbeat',
        explains: ['unknown-symptom', 'heartbeat', 'job', 'crash'],
        state: 'over',
        owner: 'platform',
        boundary: null,
        strength: 'derived',
        cause: text(
          `${alerts[0]!.labels.alertname} fired at ${fired} because ${nameOf(workload)} restarted at ${startOf(restarted)} and had no samples meanwhile; it has resolved and the monitoring is ready.`,
        ),
        root: refOf(workload),
        affects: 'cluster',
        onset: startOf(restarted),
        evidence: [
          ...alerts.slice(0, 1).map((alert) => alertEvidence('platform', alert)),
          ...lines.slice(-2).map((entry) => evidence.log(entry.log, entry.line)),
          evidence.condition(restarted, 'Ready'),
          ...facts
            .seriesLike(/./)
            .filter((series) => series.name.length > 3 && words.includes(series.name))
            .slice(0, 1)
            .map((series) => evidence.series(series, `back: ${series.points.at(-1)?.[1]}`)),
          ...jobs.slice(0, 1).map((job) => evidence.field(job, 'status.completionTime')),
        ],
        chain: [
          link(restarted, 'restarted'),
          { object: `Alert ${alerts[0]!.labels.alertname}`, claim: 'fired in the gap' },
        ],
        nextSteps: [
          text('Give rules on absent() a `for` longer than a restart of Prometheus takes, or run two replicas.'),
        ],
      },
    ];
  },
});

const isAboutAbsence = ({ labels, annotations }: Alert): boolean =>
  aboutAbsence.test(`${labels.alertname} ${Object.values(annotations).join(' ')}`);

/** When the present run of the pod began. */
const startOf = (pod: KubeObject): string | undefined =>
  (pod.status?.containerStatuses ?? [])
    .map((status: any) => status.state?.running?.startedAt)
    .filter(Boolean)
    .sort()
    .at(-1) ?? pod.status?.startTime;
