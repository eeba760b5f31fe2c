import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isPending } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** What Fargate's scheduler says, and who acts on it; `workload` is whoever owns the pod's template. */
interface Answer {
  pattern: RegExp;
  owner: Owner | 'workload';
  boundary: Boundary;
  strength: 'direct' | 'derived' | 'circumstantial';
  says: string;
  fix: string;
}

const answers: Answer[] = [
  {
    pattern: /account is (currently )?blocked|account.{0,30}(suspended|being verified)/i,
    owner: 'cloud',
    boundary: 'provisioning',
    strength: 'derived',
    says: 'the vendor has put the account into a blocked state for Fargate, which only its support can lift',
    fix: 'Open an account case with the vendor’s support, and answer its questions; nothing in the cluster helps.',
  },
  {
    pattern: /not supported on Fargate|fields not supported|invalid SecurityContext fields|unsupported pod spec/i,
    owner: 'workload',
    boundary: 'config',
    strength: 'direct',
    says: 'its template asks for what Fargate does not support',
    fix: 'Change the template to what Fargate supports, or give it EC2 nodes and keep its namespace out of the Fargate profile.',
  },
  {
    pattern: /vCPU.{0,40}(limit|quota)|quota|reached the (maximum|limit)|concurrent.{0,20}Fargate pods|LimitExceeded/i,
    owner: 'platform',
    boundary: 'quota',
    strength: 'direct',
    says: 'a Fargate quota of the account is used up',
    fix: 'Raise the Fargate quota in Service Quotas, or run fewer pods at once.',
  },
  {
    pattern: /capacity is (currently )?unavailable|insufficient capacity|capacity.{0,20}unavailable/i,
    owner: 'cloud',
    boundary: 'capacity',
    strength: 'direct',
    says: 'the vendor has no Fargate capacity in these zones',
    fix: 'Add subnets of other zones to the profile, and open a case with the vendor.',
  },
  {
    pattern:
      /Misconfigured Fargate Profile|Fargate profile.{0,80}(blocked|invalid|not found)|execution role|auth config|subnet.{0,60}(not found|no free|insufficient|does not exist)|security group/i,
    owner: 'platform',
    boundary: 'provisioning',
    strength: 'direct',
    says: 'the Fargate profile, its role or its subnets are wrong',
    fix: 'Correct the Fargate profile: execution role, its access entry, its subnets.',
  },
  {
    pattern: /Internal(Failure| error)|ServiceUnavailable/i,
    owner: 'cloud',
    boundary: 'provisioning',
    strength: 'derived',
    says: 'Fargate answers with an internal error',
    fix: 'Open a case with the vendor and name the pods’ uids and the times.',
  },
  {
    // An event may say nothing at all.
    pattern: /^/,
    owner: 'undetermined',
    boundary: 'provisioning',
    strength: 'circumstantial',
    says: 'Fargate does not run it, and its text fits several causes',
    fix: 'Read the profile’s health (aws eks describe-fargate-profile) and the account’s Fargate quotas.',
  },
];

interface Refused {
  workloads: Map<string, KubeObject>;
  pods: KubeObject[];
  events: KubeEvent[];
  answer: Answer;
}

export default rule({
  title:
    'Fargate’s scheduler refuses pods; its text tells a template’s fault from a quota, a profile, an account or capacity',
  lookAlikes: [
    'the same text about an add-on in kube-system: who placed the add-on acts',
    'a quota and a blocked account',
  ],
  judge(facts) {
    const groups = new Map<string, Refused>();
    for (const pod of facts.all('Pod').filter(isPending)) {
      const event = facts
        .eventsAbout(pod, 'FailedScheduling')
        .filter((entry) => /fargate/i.test(entry.source))
        .at(-1);
      if (!event) continue;
      const answer = answers.find((entry) => entry.pattern.test(event.message))!;
      const workload = facts.workloadOf(pod);
      const key = answer.owner === 'workload' ? `${answer.says}/${workload.metadata.uid}` : answer.says;
      const group: Refused = groups.get(key) ?? { workloads: new Map(), pods: [], events: [], answer };
      group.workloads.set(nameOf(workload), workload);
      group.pods.push(pod);
      group.events.push(event);
      groups.set(key, group);
    }
    return [...groups.values()].map((group) =>
      findingOf(facts, [...group.workloads.values()], group.pods, group.events, group.answer),
    );
  },
});

const findingOf = (
  facts: ClusterFacts,
  workloads: KubeObject[],
  pods: KubeObject[],
  events: KubeEvent[],
  answer: Answer,
) => {
  const owner = answer.owner === 'workload' ? ownershipOf(facts, workloads[0]!) : answer.owner;
  const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
  const profile = facts.cloud('eks.describeFargateProfile')?.fargateProfile;
  const message = events[0]!.message;
  const unique = [...new Map(events.map((event) => [event.message, event])).values()].slice(0, 2);
  return {
    mechanism: answer.owner === 'workload' ? ('scheduling' as const) : ('launch-failed' as const),
    explains: [
      'pending' as const,
      'rollout' as const,
      'job' as const,
      'unknown-symptom' as const,
      ...(answer.owner === 'workload' ? [] : ['scheduling' as const]),
    ],
    owner,
    boundary: answer.boundary,
    strength: answer.strength,
    cause: text(
      `Fargate refuses ${pods.length} pods of ${workloads.slice(0, 3).map(nameOf).join(', ')}: “${message}”; ${answer.says}.`,
    ),
    root: refOf(workloads[0]!),
    affects: pods.map(refOf),
    onset: earliest(...events.map((event) => event.firstAt)),
    evidence: [
      ...unique.map((event) => evidence.event(event)),
      ...(answer.owner === 'workload' ? [evidence.field(workloads[0]!, 'spec.template.spec')] : []),
      ...(profile
        ? [
            evidence.aws(
              'eks.describeFargateProfile',
              'fargateProfile.status',
              profile.status,
              JSON.stringify(profile.health ?? {}),
            ),
          ]
        : []),
    ],
    chain: [
      ...workloads.slice(0, 2).map((workload) => link(workload, answer.says)),
      ...pods.slice(0, 2).map((pod) => link(pod, 'no Fargate node')),
    ],
    contributing:
      owner === 'cloud'
        ? [{ owner: 'platform' as const, action: text('Open the case with the vendor for this account.') }]
        : [],
    nextSteps: [text(answer.fix)],
    missing:
      owner === 'undetermined'
        ? [
            {
              layer: 'platform' as const,
              missing: 'state of the Fargate profile and of the account’s Fargate quotas',
              fix: 'allow eks:DescribeFargateProfile and servicequotas:ListServiceQuotas',
            },
          ]
        : [],
  };
};
