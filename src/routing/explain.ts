import type { Alert } from '../domain/alert.ts';
import { describeRef, type KubeObject, type ObjectRef, refOf } from '../domain/kubernetes.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { findTeam, type OwnerDirectory, type Party, platformTeamOf } from './directory.ts';
import { directoryFact } from './directory-match.ts';
import { absent, notRead, type OwnerFact } from './owner-fact.ts';
import { workloadsBehind } from './workloads-behind.ts';

export interface OwnerExplanation {
  party: Party;
  knownBy: string;
  looked: OwnerFact[];
}

export interface OwnerQuestion {
  target: ObjectRef;
  facts: ClusterFacts;
  directory: OwnerDirectory;
  /** Alerts that are about the target; the labels of others say nothing about its owner. */
  alerts: Alert[];
}

/** Who the app team of an object is, with every fact that was looked at on the way, the deciding one first found. */
export const explainOwner = (question: OwnerQuestion): OwnerExplanation => {
  const { target, facts, directory } = question;
  const chain = workloadsBehind(facts, target);
  const namespace = target.kind === 'Namespace' ? target.name : target.namespace;
  const found = [
    ...question.alerts.map((alert) => alertFact(alert, question)),
    ...chain.map((object) => objectFact(object, describeRef(refOf(object)), facts, directory)),
    ...(namespace ? [namespaceFact(namespace, facts, directory)] : []),
    directoryFact({ chain, namespace, cluster: facts.identity.name, directory }),
    ...(namespace ? [neighboursFact(namespace, facts, directory)] : []),
    defaultFact(directory, namespace, describeRef(target)),
  ];
  const looked = rank(found);
  const decided = looked.find((fact) => fact.outcome === 'decides')!;
  return { party: decided.party!, knownBy: sentence(decided, looked), looked };
};

const rank = (facts: OwnerFact[]): OwnerFact[] => {
  const first = facts.findIndex((fact) => fact.outcome === 'decides');
  return facts.map((fact, index) =>
    index > first && fact.outcome === 'decides' ? { ...fact, outcome: 'outranked' as const } : fact,
  );
};

const sentence = (decided: OwnerFact, looked: OwnerFact[]): string => {
  if (decided.where !== nobodyNamed)
    return `${decided.what} on ${decided.where}`.replace(/ on directory$/, ' of the owner directory');
  const places = looked.filter((fact) => fact !== decided).map((fact) => fact.where);
  return `${decided.what}: no team is named by ${places.join(', ')}`;
};

const alertFact = (alert: Alert, { directory, facts }: OwnerQuestion): OwnerFact => {
  const where = `alert ${alert.labels.alertname ?? alert.fingerprint}`;
  const keys = directory.keys.alertLabels;
  const key = keys.find((candidate) => alert.labels[candidate]);
  if (!key) return absent(where, `labels ${keys.join(', ')}`);
  const value = alert.labels[key]!;
  const what = `label ${key}=${value}`;
  const party = partyOf(value, directory);
  // Rules that the platform team installs carry its own label, whatever they watch.
  if (isPlatform(party, value, directory, facts.identity.name))
    return { where, what, outcome: 'unusable', note: "names the rule's author, the platform team", party: null };
  return { where, what, outcome: 'decides', note: '', party };
};

const isPlatform = (party: Party, value: string, directory: OwnerDirectory, cluster: string): boolean => {
  const { team } = platformTeamOf(directory, cluster);
  return party.name === team.name || /^(?:platform|platform-team|infra|infrastructure|sre|devops)$/i.test(value);
};

/** Labels first, then annotations; on a workload's pod template too, which pods may no longer show. */
const objectFact = (object: KubeObject, where: string, facts: ClusterFacts, directory: OwnerDirectory): OwnerFact => {
  const { labels, annotations, products } = directory.keys;
  const template = object.spec?.template?.metadata ?? object.spec?.jobTemplate?.spec?.template?.metadata;
  const places: [string, string[], Record<string, string> | undefined][] = [
    ['label', labels, object.metadata.labels],
    ['annotation', annotations, object.metadata.annotations],
    ['pod template label', labels, template?.labels],
    ['pod template annotation', annotations, template?.annotations],
  ];
  for (const [kind, keys, values] of places) {
    const key = keys.find((candidate) => values?.[candidate]);
    if (!key) continue;
    return {
      where,
      what: `${kind} ${key}=${values![key]}`,
      outcome: 'decides',
      note: '',
      party: partyOf(values![key]!, directory),
    };
  }
  return (
    productFact(object, where, products, directory) ??
    (wasRead(object, facts) ? absent(where, `labels ${labels.join(', ')}`) : notRead(where))
  );
};

const productFact = (
  object: KubeObject,
  where: string,
  keys: string[],
  directory: OwnerDirectory,
): OwnerFact | null => {
  for (const key of keys) {
    const value = object.metadata.labels?.[key] ?? object.metadata.annotations?.[key];
    const team = value ? findTeam(directory, value) : undefined;
    if (team) return { where, what: `label ${key}=${value}`, outcome: 'decides', note: '', party: team };
  }
  const key = keys.find((candidate) => object.metadata.labels?.[candidate]);
  if (!key) return null;
  const what = `label ${key}=${object.metadata.labels?.[key]}`;
  return { where, what, outcome: 'unusable', note: 'names a product the owner directory has no team for', party: null };
};

/** Owners that only an ownerReference names are stand-ins without content. */
const wasRead = (object: KubeObject, facts: ClusterFacts): boolean => facts.resolve(refOf(object)) !== undefined;

const namespaceFact = (name: string, facts: ClusterFacts, directory: OwnerDirectory): OwnerFact => {
  const where = `namespace ${name}`;
  const object = facts.find('Namespace', name);
  return object ? objectFact(object, where, facts, directory) : notRead(where);
};

const workloadKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob', 'Job', 'ReplicaSet', 'Pod'];
const neighbourKinds = [...workloadKinds, 'Workflow', 'Rollout'];

/** What all labelled workloads of the namespace agree on is good enough for one that carries no label. */
const neighboursFact = (namespace: string, facts: ClusterFacts, { keys, ...directory }: OwnerDirectory): OwnerFact => {
  const where = `its neighbours in namespace ${namespace}`;
  // Nobody's namespace: who is there says nothing about who else is.
  if (namespace === 'default') return absent(where, 'no labels: it is shared by nature');
  const found = neighbourKinds
    .flatMap((kind) => facts.in(kind, namespace))
    .flatMap(({ metadata }) => {
      const key = keys.labels.find((candidate) => metadata.labels?.[candidate]);
      return key ? [`${key}=${metadata.labels![key]}`] : [];
    });
  const [label] = found;
  if (!label) return absent(where, `labels ${keys.labels.join(', ')}`);
  const what = `label ${label}`;
  if (found.some((other) => other !== label))
    return { where, what: `${what} and others`, outcome: 'unusable', note: 'they do not agree', party: null };
  const party = partyOf(label.slice(label.indexOf('=') + 1), { keys, ...directory });
  return { where, what, outcome: 'decides', note: '', party };
};

/** The place of last resort, where no label and no entry names a team. */
const nobodyNamed = 'no team named';

/** Without a directory the namespace is the best name there is. */
const defaultFact = (directory: OwnerDirectory, namespace: string | undefined, target: string): OwnerFact => {
  const team = directory.defaults.app ? directory.teams[directory.defaults.app] : undefined;
  return {
    where: nobodyNamed,
    what: team
      ? `defaults.app: ${team.id} of the owner directory`
      : `where it runs, ${namespace ? `namespace ${namespace}` : target}`,
    outcome: 'decides',
    note: '',
    party: team ?? { name: `Owner of ${namespace ? `namespace ${namespace}` : target}`, mention: null, channel: null },
  };
};

const partyOf = (value: string, directory: OwnerDirectory): Party =>
  findTeam(directory, value) ?? { name: value, mention: null, channel: null };

/** What a person means by `namespace/name` or `namespace/kind/name`: the outermost workload of that name. */
export const findWorkload = (facts: ClusterFacts, text: string): ObjectRef | null => {
  const [namespace, ...rest] = text.split('/');
  const name = rest.pop();
  if (!namespace || !name) return null;
  const typed = rest[0]?.toLowerCase();
  const kinds = typed
    ? workloadKinds.filter((kind) => [kind.toLowerCase(), `${kind.toLowerCase()}s`].includes(typed))
    : workloadKinds;
  const object = kinds.map((kind) => facts.find(kind, name, namespace)).find((found) => found !== undefined);
  return object ? refOf(object) : null;
};
