import type { Evidence } from '../../domain/evidence.ts';
import { type TrailEvent, trailOf } from '../aws.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { linesLike, timeOf } from '../logs/log-search.ts';
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
  const described = describedDeaths(facts);
  return described.length > 0 ? described : untoldDeaths(facts);
};

const describedDeaths = (facts: ClusterFacts): InstanceDeath[] => {
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
    const message = [instance.StateReason?.Message ?? code, denial && wordsOf(denial)]
      .filter(Boolean)
      .join('; CloudTrail: ');
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

/** Karpenter’s words for a machine that it made and that the cloud no longer knows. */
const vanished = /garbage collecting nodeclaim with no cloudprovider representation/;

/**
 * Where EC2 no longer answers for the instances, Karpenter’s log says that they vanished, and the trail that a key or a
 * role was refused in the same minutes. Neither alone tells why a machine ended.
 */
const untoldDeaths = (facts: ClusterFacts): InstanceDeath[] =>
  linesLike(facts, vanished, (log) => /^karpenter/.test(log.pod)).flatMap(({ log, line }): InstanceDeath[] => {
    const at = timeOf(line, facts.now);
    const claim = /"NodeClaim":\s*\{"name":\s*"([\w.-]+)"/.exec(line)?.[1];
    const denial = denialNear(facts, at);
    if (!at || !claim || !denial || minutesBetween(at, facts.now) > recentMinutes) return [];
    const message = `its machine vanished after its launch; CloudTrail: ${wordsOf(denial)}`;
    return [
      {
        code: denial.error,
        message,
        instance: /i-[0-9a-f]{8,}/.exec(line)?.[0] ?? claim,
        claim,
        group: claim.replace(/-[a-z0-9]{5}$/, ''),
        karpenter: true,
        at,
        cite: (evidence) => evidence.log(log, `${line} (CloudTrail at ${denial.at}: ${wordsOf(denial)})`),
      },
    ];
  });

/** What the account refused in the minutes of a start: a key or a role that the disk or the network interface needs. */
const denialNear = (facts: ClusterFacts, at: string | undefined): TrailEvent | undefined => {
  const denied = trailOf(facts).filter(
    (event) =>
      /AccessDenied|Unauthorized|Disabled|InvalidState|NotFound/i.test(event.error) && /kms|ec2/i.test(event.text),
  );
  return denied.find((event) => Math.abs(minutesBetween(at, event.at)) <= 60);
};

const wordsOf = (denial: TrailEvent): string =>
  `${denial.name} ${denial.error}: ${/"errorMessage":"([^"]*)"/.exec(denial.text)?.[1] ?? ''}`;
