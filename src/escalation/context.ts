import { describeSubject } from '../domain/alert.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Facts } from '../domain/facts.ts';
import type { Incident, StoredAlert } from '../domain/incident.ts';
import type { Layer } from '../domain/layer.ts';
import { inLanguage, type Language } from '../domain/text.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Routing } from '../domain/view.ts';
import { ClusterFacts } from '../facts/cluster.ts';
import { rootObject } from '../routing/root.ts';
import { type Vendor, vendorOf } from '../routing/vendor.ts';
import { type Changes, changesOf } from './changes.ts';
import { type Identifiers, identifiersIn, zoneIdsOf } from './identifiers.ts';
import { type Machine, machinesIn } from './machines.ts';
import { type Moment, timelineOf } from './timeline.ts';
import { type Workload, workloadOf } from './workload.ts';

export interface EscalationInput {
  /** Whom a person hands the incident to; absent: whom the verdict names. */
  audience?: Layer;
  incident: Incident;
  alerts: StoredAlert[];
  verdict: Verdict;
  routing: Routing;
  facts: Facts;
  language: Language;
}

/** A list as a message can hold it: the first ones, and how many more there are. */
export interface Bounded<T> {
  items: T[];
  more: number;
}

/**
 * Everything a template of templates/escalation may print. Text is as the machines wrote it; the engine makes it
 * legible. An empty string or list means that the facts do not tell; a template asks with `{% if … != "" %}` or
 * `{% if ….size > 0 %}`.
 */
export interface PackContext {
  incident: {
    id: string;
    title: string;
    severity: string;
    subject: string;
    firedAt: string;
    refires: number;
    alerts: string[];
  };
  cluster: {
    name: string;
    provider: string;
    vendor: Vendor;
    region: string;
    account: string;
    version: string;
    platformVersion: string;
    arn: string;
    /** Kubelet versions with their number of nodes: `v1.33.4 (12)`. */
    kubelets: string[];
    /** Controllers and agents of the nodes' lifecycle with their image tags. */
    addons: string[];
  };
  verdict: {
    owner: string;
    cause: string;
    confidence: string;
    boundary: string;
    onset: string;
    impact: string;
    readAt: string;
    nextSteps: string[];
    cannotShow: string[];
    wouldChange: string[];
  };
  routing: { party: string; knownBy: string };
  chain: { object: string; uid: string; claim: string }[];
  evidence: Bounded<Evidence>;
  ruledOut: { layer: Layer; because: string; evidence: Evidence[] }[];
  unknown: { layer: Layer; missing: string; fix: string }[];
  missing: { layer: string; missing: string; fix: string }[];
  contributing: { owner: string; action: string }[];
  identifiers: Identifiers;
  /** Zones in their ids, which mean the same in every account: `us-west-2a = usw2-az1`. */
  zones: string[];
  machines: Bounded<Machine>;
  timeline: Moment[];
  workload: Workload | null;
  changes: Changes;
}

const maxEvidence = 10;
const maxMachines = 8;
const maxReproductions = 3;

export const bounded = <T>(list: T[], max: number): Bounded<T> => ({
  items: list.slice(0, max),
  more: Math.max(0, list.length - max),
});

export const packContext = (input: EscalationInput, audience: Layer): PackContext => {
  const { incident, alerts, verdict, routing, language } = input;
  const facts = new ClusterFacts(input.facts);
  const identifiers = identifiersIn(verdict);
  const zoneIds = zoneIdsOf(input.facts);
  const machines = machinesIn(verdict, facts, identifiers.instances, zoneIds);
  const say = (sentence: { en: string }): string => inLanguage(sentence, language);
  return {
    incident: {
      id: incident.id,
      title: incident.title,
      severity: incident.severity,
      subject: describeSubject(incident.subject),
      firedAt: incident.firedAt,
      refires: incident.refires,
      alerts: [...new Set(alerts.map(({ labels }) => labels.alertname ?? ''))].filter(Boolean).slice(0, 10),
    },
    cluster: clusterOf(facts),
    verdict: {
      owner: verdict.owner,
      cause: say(verdict.cause),
      confidence: verdict.confidence,
      boundary: verdict.boundary ?? '',
      onset: verdict.onset ?? '',
      impact: verdict.impact,
      readAt: facts.now,
      nextSteps: verdict.nextSteps.map(say),
      cannotShow: verdict.cannotShow,
      wouldChange: verdict.wouldChange,
    },
    routing: { party: routing.party, knownBy: routing.knownBy },
    chain: verdict.chain.map(({ object, uid = '', claim }) => ({ object, uid, claim })),
    evidence: bounded(byRelevance(verdict.evidence, audience), maxEvidence),
    ruledOut: ruledOutBy(verdict),
    // What was read and tells nothing is no gap that the receiver could ask about.
    unknown: verdict.layers
      .filter((layer) => layer.status === 'unknown')
      .filter((layer) => !layer.silent)
      .map(({ layer, missing, fix }) => ({ layer, missing, fix })),
    missing: verdict.missing,
    contributing: verdict.contributing.map(({ owner, action }) => ({ owner, action: say(action) })),
    identifiers,
    zones: zonesOf(identifiers, machines, zoneIds),
    machines: bounded(machines, maxMachines),
    timeline: timelineOf(incident, alerts, verdict, facts.now),
    workload: workloadOf(facts, rootObject(verdict, facts)),
    changes: changesOf(facts, verdict),
  };
};

/** The receiver's own layer first; inside a layer in the order of the verdict. */
const byRelevance = (evidence: Evidence[], audience: Layer): Evidence[] => [
  ...evidence.filter(({ layer }) => layer === audience),
  ...evidence.filter(({ layer }) => layer !== audience),
];

const ruledOutBy = (verdict: Verdict): PackContext['ruledOut'] =>
  verdict.layers
    .filter((layer) => layer.status === 'cleared')
    .map(({ layer, because }) => ({
      layer,
      because,
      evidence: verdict.evidence.filter((evidence) => evidence.layer === layer).slice(0, maxReproductions),
    }));

const zonesOf = (identifiers: Identifiers, machines: Machine[], zoneIds: Map<string, string>): string[] => {
  const names = new Set([...identifiers.zones, ...machines.map(({ zone }) => zone).filter(Boolean)]);
  return [...names].map((zone) => (zoneIds.has(zone) ? `${zone} = ${zoneIds.get(zone)}` : zone));
};

const addon =
  /(?:^|\/)(karpenter|cluster-autoscaler|aws-node|amazon-k8s-cni|coredns|kube-proxy|aws-ebs-csi-driver|aws-efs-csi-driver|cilium|calico-node|csi-[\w-]+)(?:-controller|-agent)?$/;

const clusterOf = (facts: ClusterFacts): PackContext['cluster'] => {
  const { name, provider, region = '', account = '' } = facts.identity;
  const described = facts.cloud('eks.describeCluster')?.cluster ?? {};
  return {
    name,
    provider,
    vendor: vendorOf(facts).vendor,
    region,
    account: account || (typeof described.arn === 'string' ? (described.arn.split(':')[4] ?? '') : ''),
    version: text(described.version),
    platformVersion: text(described.platformVersion),
    arn: text(described.arn),
    kubelets: tally(facts.all('Node').map((node) => node.status?.nodeInfo?.kubeletVersion)),
    addons: addonsOf(facts),
  };
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const tally = (values: (string | undefined)[]): string[] => {
  const counts = new Map<string, number>();
  for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([value, count]) => `${value} (${count})`);
};

/** `karpenter 1.8.2`, from the images of the workloads that were read. */
const addonsOf = (facts: ClusterFacts): string[] => {
  const images = [...facts.all('Deployment'), ...facts.all('DaemonSet'), ...facts.all('Pod')]
    .filter(({ metadata }) => /^(?:kube-system|karpenter|calico-system|cilium)$/.test(metadata.namespace ?? ''))
    .flatMap((object) => object.spec?.template?.spec?.containers ?? object.spec?.containers ?? [])
    .map(({ image }: { image?: string }) => image ?? '');
  const named = images.flatMap((image) => {
    const [path = '', tag] = image.replace(/@sha256:.*$/, '').split(/:(?=[^:/]*$)/);
    const match = addon.exec(path);
    return match && tag ? [`${match[1]} ${tag}`] : [];
  });
  return [...new Set(named)].sort().slice(0, 8);
};
