import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, instanceStatusOf } from '../../facts/aws.ts';
import { poolOf } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** After the drain an instance is gone within minutes. */
const usualMinutes = 20;

export default rule({
  title: 'A node has drained and does not go away: a volume stays attached, or the vendor does not end the instance',
  lookAlikes: ['a drain that never ended: a budget or a pod holds it'],
  judge(facts) {
    return facts.all('NodeClaim').flatMap((claim) => {
      const began = claim.metadata.deletionTimestamp;
      if (!began || minutesBetween(began, facts.now) < usualMinutes || !isTrue(claim, 'Drained')) return [];
      const node = facts.find('Node', claim.status?.nodeName);
      const pool = poolOf(facts, claim);
      const attached = condition(claim, 'VolumesDetached');
      const byVolume = attached !== undefined && attached.status !== 'True';
      const state = node && instanceStatusOf(facts, node)?.InstanceState?.Name;
      const byVendor = !byVolume && isTrue(claim, 'InstanceTerminating') && state === 'shutting-down';
      if (!byVolume && !byVendor) return [];
      const detachError = facts
        .all('VolumeAttachment')
        .some((item) => item.spec?.nodeName === claim.status?.nodeName && item.status?.detachError);
      const owner = byVendor ? ('cloud' as const) : detachError ? ('platform' as const) : ('undetermined' as const);
      const evidence = cite(byVendor ? 'cloud' : 'platform', facts);
      const says = byVolume
        ? `it waits for volumes to be detached (${attached.reason})`
        : 'EC2 keeps the instance in shutting-down';
      return [
        {
          mechanism: 'drain-blocked' as const,
          explains: ['pool-limit' as const, 'node-churn' as const, 'pending' as const, 'unknown-symptom' as const],
          owner,
          boundary: byVolume ? ('storage' as const) : ('node' as const),
          strength: 'derived' as const,
          cause: text(
            `NodeClaim ${claim.metadata.name} has drained and does not end for ${duration(minutesBetween(began, facts.now))}: ${says}.`,
          ),
          root: refOf(claim),
          affects: [refOf(claim), ...(node ? [refOf(node)] : []), ...(pool ? [refOf(pool)] : [])],
          onset: began,
          evidence: [
            evidence.condition(claim, 'VolumesDetached'),
            evidence.condition(claim, 'Drained'),
            evidence.condition(claim, 'InstanceTerminating'),
            ...(state
              ? [evidence.aws('ec2.describeInstanceStatus', `${instanceIdOf(node)}.InstanceState.Name`, state)]
              : []),
            ...(node
              ? facts
                  .eventsAbout(node, 'AwaitingVolumeDetachment')
                  .slice(-1)
                  .map((event) => evidence.event(event))
              : []),
          ],
          chain: [link(claim, says)],
          missing:
            owner === 'undetermined'
              ? [
                  {
                    layer: 'platform' as const,
                    missing: 'whether the CSI controller asks for the detachment, and what the cloud answers',
                    fix: 'read the logs of the CSI controller and its csi-attacher, and the cloud’s audit trail of DetachVolume',
                  },
                ]
              : [],
          nextSteps: [
            text(
              byVolume
                ? `Look at the VolumeAttachments of the node: kubectl get volumeattachments | grep ${claim.status?.nodeName}`
                : 'Open a support case for the instance that does not terminate.',
            ),
          ],
        },
      ];
    });
  },
});
