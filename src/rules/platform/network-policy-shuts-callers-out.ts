import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { lastWrite } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type LogLine, linesLike } from '../../facts/logs/log-search.ts';
import { admits, isolating, policyWriter } from '../../facts/network/policies.ts';
import type { Scope } from '../../facts/scope.ts';
import { duration, latest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A policy drops what it does not admit: the caller waits in vain while it connects. */
const unanswered =
  /timed out|timeout|ETIMEDOUT|deadline exceeded|no route to host|connection (?:failure|termination)|upstream connect error|UF,URX|\bUF\b/i;
/** A policy as old as that has been lived with. */
const freshMinutes = 6 * 60;
const slackMinutes = 10;

export default rule({
  title: 'A NetworkPolicy that was written shortly before admits none of those who call the pods',
  lookAlikes: [
    'callers that the policies of the pods admit: the pods themselves do not answer',
    'a policy that is older than the trouble',
    'connection refused: something answers',
  ],
  judge(facts, scope) {
    const targets = scope.pods.flatMap((pod): Target[] => {
      const policies = isolating(facts, pod);
      const newest = policies
        .map((policy) => ({ policy, at: latest(policy.metadata.creationTimestamp, lastWrite(policy)?.time) ?? '' }))
        .sort((a, b) => (a.at < b.at ? 1 : -1))[0];
      return newest && isFresh(facts, newest.at) ? [{ pod, policies, ...newest }] : [];
    });
    const first = targets[0];
    if (!first) return [];
    const mine = targets.filter((target) => target.policy === first.policy);
    const shutOut = calls(facts, scope, mine).filter(({ from }) => !admits(facts, first.policies, from));
    return shutOut.length > 0 ? [findingOf(facts, mine, shutOut)] : [];
  },
});

interface Target {
  pod: KubeObject;
  policies: KubeObject[];
  policy: KubeObject;
  at: string;
}

interface Call {
  from: KubeObject;
  said: LogLine;
}

const isFresh = (facts: ClusterFacts, at: string): boolean =>
  minutesBetween(at, facts.now) <= freshMinutes && minutesBetween(at, facts.alerts[0]?.startsAt) > -slackMinutes;

/** Lines of other pods about connections to these pods, by their address, their Service's or their Ingress's host. */
const calls = (facts: ClusterFacts, scope: Scope, targets: Target[]): Call[] => {
  const names = targets.flatMap(({ pod }) => namesOf(facts, pod));
  const own = new Set(scope.pods.map((pod) => pod.metadata.name));
  const isNamed = (line: string): boolean => names.some((name) => includesWord(line, name));
  return linesLike(facts, unanswered, (log) => !own.has(log.pod)).flatMap((said) => {
    const from = isNamed(said.line) ? facts.find('Pod', said.log.pod, said.log.namespace) : undefined;
    return from ? [{ from, said }] : [];
  });
};

const namesOf = (facts: ClusterFacts, pod: KubeObject): string[] => {
  const namespace = pod.metadata.namespace ?? '';
  const services = facts.servicesOf(pod);
  const hosts = facts
    .in('Ingress', namespace)
    .flatMap((ingress) => (ingress.spec?.rules ?? []) as any[])
    .filter((entry) => services.some(({ metadata }) => JSON.stringify(entry).includes(`"name":"${metadata.name}"`)))
    .map((entry) => entry.host);
  return [
    pod.status?.podIP,
    ...services.flatMap((service) => [service.spec?.clusterIP, `${service.metadata.name}.${namespace}`]),
    ...hosts,
  ].filter((name) => name && name !== 'None');
};

const includesWord = (line: string, name: string): boolean => {
  const at = line.indexOf(name);
  return at >= 0 && !/[\w-]/.test(line[at - 1] ?? ' ') && !/[\w-]/.test(line[at + name.length] ?? ' ');
};

const findingOf = (facts: ClusterFacts, targets: Target[], shutOut: Call[]): FindingDraft => {
  const { policy, at } = targets[0]!;
  const owner = policyWriter(facts, policy);
  const evidence = cite(owner, facts);
  const callers = [...new Set(shutOut.map(({ from }) => facts.workloadOf(from)))];
  const homes = [...new Set(callers.map((caller) => caller.metadata.namespace))];
  const copies = facts
    .all('NetworkPolicy')
    .filter(({ metadata }) => metadata.name === policy.metadata.name && metadata.uid !== policy.metadata.uid);
  const writer = lastWrite(policy)?.manager;
  return {
    mechanism: 'network',
    explains: ['application-error', 'dependency', 'probe', 'traffic', 'rollout', 'unknown-symptom', 'load'],
    owner,
    boundary: 'network',
    strength: 'direct',
    cause: text(
      `${nameOf(policy)}${writer ? ` (written by ${writer})` : ''} of ${at} admits no pod of ${homes.join(', ')} to ${targets.length} pods of the subject${copies.length > 0 ? `, like its copies in ${copies.length} other namespaces` : ''}; ${callers.map(nameOf).join(', ')} waits in vain while it connects.`,
    ),
    root: refOf(policy),
    affects: targets.flatMap(({ pod }) => [...facts.ownerChain(pod), ...facts.servicesOf(pod)].map(refOf)),
    onset: at,
    evidence: [
      evidence.field(policy, 'spec.ingress', policy.spec?.ingress ?? [], `written ${at}`),
      ...(Object.keys(policy.metadata.labels ?? {}).length > 0 ? [evidence.field(policy, 'metadata.labels')] : []),
      ...(policy.metadata.managedFields?.length ? [evidence.field(policy, 'metadata.managedFields')] : []),
      ...[...new Set([shutOut[0]!, shutOut.at(-1)!])].map(({ said }) => evidence.log(said.log, said.line)),
      evidence.condition(targets[0]!.pod, 'Ready'),
    ],
    chain: [
      link(policy, `admits nobody of ${homes.join(', ')}`),
      ...callers
        .slice(0, 2)
        .map((caller) => link(caller, `cannot connect since ${duration(minutesBetween(at, facts.now))}`)),
      link(targets[0]!.pod, 'gets no connections from there'),
    ],
    contributing: [],
    nextSteps: [
      text(
        `Admit the callers in it, or take it back: kubectl get networkpolicy ${policy.metadata.name} -n ${policy.metadata.namespace} -o yaml; namespace labels: kubectl get namespaces --show-labels`,
      ),
    ],
  };
};
