import type { Evidence } from '../../domain/evidence.ts';
import { trailOf } from '../aws.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { minutesBetween } from '../time.ts';

/** An instance that EC2 ended while it started: the launch call succeeded, so no claim bears an error. */
export interface InstanceDeath {
  /** EC2's StateReason code, e.g. `Client.InternalError`. */
  code: string;
  message: string;
  instance: string;
  /** NodeClaim by tag; undefined where the tags were not given. */
  claim?: string;
  /** NodePool or Auto Scaling group by tag. */
  group: string;
  karpenter: boolean;
  at: string;
  cite(evidence: Cite): Evidence;
}

/** Ends that somebody asked for, or that follow a life: no failed start. */
const wanted =
  /UserInitiated|InstanceInitiated|SpotInstance|ScheduledStop|InstanceTermination|HibernateTimeout|SpotInstanceShutdown/;
/** EC2 answers a terminated instance for about an hour. */
const recentMinutes = 120;

export const instanceDeaths = (facts: ClusterFacts): InstanceDeath[] => {
  const call = 'ec2.describeInstances';
  const instances: any[] = (facts.cloud(call)?.Reservations ?? []).flatMap((entry: any) => entry.Instances ?? []);
  return instances.flatMap((instance): InstanceDeath[] => {
    const code: string = instance.StateReason?.Code ?? '';
    const tag = (key: string): string | undefined =>
      (instance.Tags ?? []).find((entry: any) => entry.Key === key)?.Value;
    const pool = tag('karpenter.sh/nodepool');
    const group = pool ?? tag('aws:autoscaling:groupName') ?? tag('eks:nodegroup-name');
    if (!/^(Client|Server)\./.test(code) || wanted.test(code) || !group) return [];
    if (minutesBetween(instance.LaunchTime, facts.now) > recentMinutes) return [];
    const denial = denialNear(facts, instance.LaunchTime);
    const message = [instance.StateReason?.Message ?? code, denial].filter(Boolean).join('; CloudTrail: ');
    return [
      {
        code,
        message,
        instance: instance.InstanceId ?? '',
        claim: tag('karpenter.sh/nodeclaim'),
        group,
        karpenter: pool !== undefined,
        at: instance.LaunchTime ?? '',
        cite: (evidence) =>
          evidence.aws(call, `Instances[${instance.InstanceId}].StateReason`, code, message, instance.LaunchTime),
      },
    ];
  });
};

/** What the account refused in the minutes of a start: a key or a role that the disk or the network interface needs. */
const denialNear = (facts: ClusterFacts, at: string | undefined): string => {
  const denied = trailOf(facts).filter(
    (event) =>
      /AccessDenied|Unauthorized|Disabled|InvalidState|NotFound/i.test(event.error) && /kms|ec2/i.test(event.text),
  );
  const near = denied.find((event) => Math.abs(minutesBetween(at, event.at)) <= 60);
  return near ? `${near.name} ${near.error}: ${/"errorMessage":"([^"]*)"/.exec(near.text)?.[1] ?? ''}` : '';
};
