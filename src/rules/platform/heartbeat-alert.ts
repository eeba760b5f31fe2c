import { mechanisms } from '../../domain/finding.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { addMinutes } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Alerts that fire by design: a dead man's switch, and the helper that mutes info alerts. */
const deadMan = /^(Watchdog|DeadMansSwitch|DeadMansSnitch|Heartbeat|PrometheusWatchdog)$/i;
const helper = /^InfoInhibitor$/;
const dayMinutes = 24 * 60;

export default rule({
  title: 'Alerts that always fire: Watchdog proves the alert path, InfoInhibitor mutes info alerts',
  lookAlikes: ['a Watchdog that resolved: the path it proves has broken', 'real alerts in the same notification'],
  judge(facts) {
    const names = facts.alerts.map((alert) => alert.labels.alertname ?? '');
    if (names.length === 0 || !names.every((name) => deadMan.test(name) || helper.test(name))) return [];
    const silent = facts.alerts.find(
      (alert) => alert.status === 'resolved' && deadMan.test(alert.labels.alertname ?? ''),
    );
    const alert = silent ?? facts.alerts[0]!;
    const evidence = cite('platform', facts);
    const shared = {
      mechanism: 'heartbeat' as const,
      root: { kind: 'Alert', name: alert.labels.alertname ?? '' },
      affects: 'cluster' as const,
      boundary: null,
      evidence: [alertEvidence('platform', alert), ...probeOf(facts, evidence)],
      onset: silent ? alert.endsAt : alert.startsAt,
    };
    if (silent)
      return [
        {
          ...shared,
          explains: [],
          owner: 'platform',
          strength: 'derived',
          cause: text(
            `${alert.labels.alertname} stopped at ${alert.endsAt}: the rule that always fires no longer reaches Alertmanager, so other alerts may be lost too.`,
          ),
          nextSteps: [text('Check Prometheus and its path to Alertmanager: kubectl get pods -n monitoring')],
        },
      ];
    return [
      {
        ...shared,
        explains: mechanisms.filter((mechanism) => mechanism !== 'heartbeat'),
        state: 'expected',
        owner: 'platform',
        strength: 'direct',
        cause: text(
          deadMan.test(shared.root.name)
            ? `${shared.root.name} always fires; it proves that the alert path works, and only its absence matters.`
            : `InfoInhibitor only mutes info-level alerts of namespace ${alert.labels.namespace ?? 'the cluster'}; it states no fault.`,
        ),
        nextSteps: [
          text(
            deadMan.test(shared.root.name)
              ? 'Nothing to do: send it to a dead man’s switch, not to people.'
              : 'Nothing to do: route InfoInhibitor to a null receiver.',
          ),
        ],
        deadline: addMinutes(facts.now, dayMinutes),
      },
    ];
  },
});

const probeOf = (facts: Parameters<typeof cite>[1], evidence: ReturnType<typeof cite>) => {
  const ready = facts.probe('readyz');
  return ready ? [evidence.probe(ready)] : [];
};
