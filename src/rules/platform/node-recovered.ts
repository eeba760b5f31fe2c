import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { isTrue } from '../../facts/conditions.ts';
import { leaseAgeMinutes, leaseOf, readiness } from '../../facts/nodes/nodes.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const gone = /^(KubeNodeNotReady|KubeNodeUnreachable|NodeNotReady|NodeDown)$/;
/** Ready for this long with a fresh lease: it has come back, and does not flap. */
const steadyMinutes = 3;

export default rule({
  title: 'A node that was NotReady or unreachable is back: Ready again with a fresh lease',
  lookAlikes: ['readiness that flaps', 'Ready=True that is old while the lease is stale'],
  judge(facts, scope) {
    const alerts = facts.alerts.filter((alert) => gone.test(alert.labels.alertname ?? ''));
    if (alerts.length === 0 || alerts.length < facts.alerts.length || scope.subjectNodes.length === 0) return [];
    const back = scope.subjectNodes.every((node) => {
      const since = minutesBetween(readiness(node)?.lastTransitionTime, facts.now);
      const lease = leaseOf(facts, node);
      return (
        isTrue(node, 'Ready') &&
        since >= steadyMinutes &&
        (!lease || leaseAgeMinutes(facts, lease) < 2) &&
        (node.spec?.taints ?? []).every((taint: any) => !/not-ready|unreachable/.test(taint.key))
      );
    });
    if (!back) return [];
    const node = scope.subjectNodes[0]!;
    const evidence = cite('platform', facts);
    const reboot = facts
      .eventsAbout(node)
      .filter((event) => /Rebooted|Starting/.test(event.reason))
      .slice(-1);
    return [
      {
        mechanism: 'node-churn',
        explains: ['node-silent', 'node-runtime', 'probe', 'unknown-symptom', 'eviction'],
        state: 'over',
        owner: 'platform',
        boundary: 'node',
        strength: 'derived',
        cause: text(
          `Node ${node.metadata.name} is Ready again since ${duration(minutesBetween(readiness(node)?.lastTransitionTime, facts.now))} and renews its lease${reboot[0] ? ` after ${reboot[0].message.slice(0, 80)}` : ''}.`,
        ),
        root: refOf(node),
        affects: scope.subjectNodes.map(refOf),
        onset: alerts[0]!.startsAt,
        evidence: [
          evidence.condition(node, 'Ready'),
          ...(leaseOf(facts, node) ? [evidence.field(leaseOf(facts, node)!, 'spec.renewTime')] : []),
          ...reboot.map((event) => evidence.event(event)),
        ],
        chain: [link(node, 'Ready again')],
        nextSteps: [
          text(
            `Nothing to do now; if it returns, read the kernel log of ${node.metadata.name} around ${alerts[0]!.startsAt}.`,
          ),
        ],
      },
    ];
  },
});
