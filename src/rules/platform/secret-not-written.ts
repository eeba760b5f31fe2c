import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isNotTrue } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses } from '../../facts/pods.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const absent = /secret "([^"]+)" not found|couldn't find key \S+ in Secret (\S+)/i;
/** The team's own reference names nothing in the store; the store itself answers. */
const namesNothing =
  /(?:secret|key|property|parameter|version)\b[^\n]{0,120}?(?:not found|does not exist|can't find|NotFound)|ResourceNotFoundException|ParameterNotFound|no secret data found|SecretNotFound/i;

export default rule({
  title: 'A Secret is missing because what should write it cannot: an ExternalSecret, its store, or a Certificate',
  lookAlikes: [
    'a Secret that nobody was asked to write: the template names the wrong one',
    'the store answers and the reference names nothing in it: the team’s own reference',
    'a key that is missing in a Secret that exists',
  ],
  judge(facts, scope) {
    return scope.troubledPods
      .flatMap((pod) => wantedSecrets(facts, pod).map((name) => ({ pod, name })))
      .filter((entry, index, all) => all.findIndex((other) => other.name === entry.name) === index)
      .flatMap(({ pod, name }) => {
        const writer = writerOf(facts, pod.metadata.namespace ?? '', name);
        return writer ? [findingOf(facts, pod, name, writer)] : [];
      });
  },
});

/** Secrets the kubelet says it does not find. */
const wantedSecrets = (facts: ClusterFacts, pod: KubeObject): string[] => {
  const words = [
    ...containerStatuses(pod).map((status) => status.state?.waiting?.message ?? ''),
    ...facts.eventsAbout(pod).map((event) => event.message),
  ];
  return [
    ...new Set(
      words.flatMap((said) => {
        const match = absent.exec(said);
        return match ? [(match[1] ?? match[2]!).split('/').at(-1)!] : [];
      }),
    ),
  ];
};

/** The object that should write the Secret and is not ready. */
const writerOf = (facts: ClusterFacts, namespace: string, name: string): KubeObject | undefined =>
  facts
    .in('ExternalSecret', namespace)
    .concat(facts.in('Certificate', namespace))
    .find(
      (entry) =>
        (entry.kind === 'Certificate' ? entry.spec?.secretName : (entry.spec?.target?.name ?? entry.metadata.name)) ===
          name && isNotTrue(entry, 'Ready'),
    );

interface Judged {
  owner: Owner;
  strength: Strength;
  because: string;
  root: KubeObject;
}

const judge = (facts: ClusterFacts, writer: KubeObject): Judged => {
  const ready = condition(writer, 'Ready');
  const said = ready?.message ?? '';
  const reference = writer.spec?.secretStoreRef ?? writer.spec?.issuerRef ?? {};
  const store = facts.find(
    reference.kind ?? 'SecretStore',
    reference.name,
    /^Cluster/.test(reference.kind ?? '') ? undefined : writer.metadata.namespace,
  );
  const shared = /^Cluster/.test(reference.kind ?? '');
  if (store && isNotTrue(store, 'Ready'))
    return {
      owner: shared ? 'platform' : ownershipOf(facts, store),
      strength: 'direct',
      because: `${nameOf(store)} is not ready (${condition(store, 'Ready')?.reason}: ${(condition(store, 'Ready')?.message ?? '').slice(-200)})`,
      root: store,
    };
  if (namesNothing.test(said) && !/store|issuer/i.test(said))
    return {
      owner: ownershipOf(facts, writer),
      strength: 'direct',
      because: `${nameOf(writer)} asks for what its store does not hold (${said.slice(0, 200)})`,
      root: writer,
    };
  const others = facts
    .all(writer.kind)
    .filter((entry) => entry.metadata.namespace !== writer.metadata.namespace && isNotTrue(entry, 'Ready'));
  const many = shared && (others.length > 0 || /store|issuer/i.test(said));
  return {
    owner: many ? 'platform' : ownershipOf(facts, writer),
    strength: many ? 'direct' : 'derived',
    because: `${nameOf(writer)} is not ready (${ready?.reason}: ${said.slice(0, 200)})${many && others.length > 0 ? `, and ${others.length} of other namespaces are not either` : ''}`,
    root: store ?? writer,
  };
};

const findingOf = (facts: ClusterFacts, pod: KubeObject, name: string, writer: KubeObject): FindingDraft => {
  const judged = judge(facts, writer);
  const workload = facts.workloadOf(pod);
  const evidence = cite(judged.owner === 'undetermined' ? 'platform' : judged.owner, facts);
  const waiting = containerStatuses(pod).find((status) => absent.test(status.state?.waiting?.message ?? ''));
  const event = facts.eventsAbout(pod).find((entry) => absent.test(entry.message));
  return {
    mechanism: 'config-missing',
    explains: ['config-missing', 'crash', 'probe', 'rollout', 'job', 'application-error', 'unknown-symptom'],
    owner: judged.owner,
    boundary: 'config',
    strength: judged.strength,
    cause: text(
      `Pods of ${nameOf(workload)} wait for secret "${name}", which ${nameOf(writer)} should write: ${judged.because}.`,
    ),
    root: refOf(judged.root),
    affects: [workload, ...facts.podsOf(workload)].map(refOf),
    onset: condition(judged.root, 'Ready')?.lastTransitionTime,
    evidence: [
      ...(judged.root === writer ? [] : [evidence.condition(judged.root, 'Ready')]),
      evidence.condition(writer, 'Ready'),
      ...(waiting
        ? [
            evidence.field(
              pod,
              `status.containerStatuses[${waiting.name}].state.waiting`,
              waiting.state?.waiting?.reason,
              waiting.state?.waiting?.message,
            ),
          ]
        : []),
      ...(event ? [evidence.event(event)] : []),
      evidence.field(writer, 'spec'),
    ],
    chain: [link(judged.root, judged.because), link(writer, `does not write ${name}`), link(pod, 'is not created')],
    nextSteps: [
      text(
        `kubectl describe ${judged.root.kind.toLowerCase()} ${judged.root.metadata.name}${judged.root.metadata.namespace ? ` -n ${judged.root.metadata.namespace}` : ''}; put right what its condition names, then the Secret appears by itself.`,
      ),
    ],
  };
};
