import type { KubeObject } from '../../domain/kubernetes.ts';
import { instanceIdOf } from '../../facts/aws.ts';
import { volumesOf } from '../../facts/capacity/pools.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { conditionsOf } from '../../facts/conditions.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { containersOf, isTroubled } from '../../facts/pods.ts';
import { scopeOf } from '../../facts/scope.ts';
import { addMinutes } from '../../facts/time.ts';
import type { CloudQuestion, CloudResources } from '../ports.ts';
import { resources } from '../resources.ts';
import { cloudQuestionCalls } from './budget.ts';
import type { Collection } from './collection.ts';
import { inOwn, inOwnOrAll, needs } from './needs.ts';
import { type Candidate, followPlan, type Plan } from './plan.ts';
import { nodeClassWorth } from './platform.ts';

/** How far back a cause in the cloud is looked for: alerts fire late, and a change acts later still. */
const lookBackMinutes = 6 * 60;
/** Names of one kind that are asked about: an incident of a thousand nodes shows in a few dozen of them. */
const maxNames = 50;

/** Objects that name resources of the cloud; most are lists that other layers have under way. */
const candidates: Candidate[] = [
  { resource: resources.nodes, wave: 1, worth: () => 100 },
  { resource: resources.pods, wave: 1, where: inOwnOrAll, worth: () => 98 },
  { resource: resources.nodeclaims, wave: 1, worth: () => 96 },
  { resource: resources.deployments, wave: 1, where: inOwn, worth: () => 60 },
  { resource: resources.replicasets, wave: 1, where: inOwn, worth: () => 55 },
  { resource: resources.events, wave: 1, where: () => [{ fieldSelector: 'type=Warning' }], worth: () => 50 },
  { resource: resources.pods, wave: 1, worth: () => 45 },
  { resource: resources.ec2nodeclasses, wave: 2, worth: nodeClassWorth },
  { resource: resources.nodeclasses, wave: 2, worth: nodeClassWorth },
  ...needs,
];

const plan: Plan = { candidates, logs: () => [], maxLogs: 0, keptForNeeds: 0, keptForLogs: () => 0 };

/** What the cloud is asked. The lists are those that the other layers read, so that a live reader shares the calls. */
export const cloudQuestion = (collection: Collection): CloudQuestion => {
  const until = collection.facts.readAt;
  let touched: Promise<CloudResources> | undefined;
  return {
    since: addMinutes(until, -lookBackMinutes),
    until,
    touched: () => {
      touched ??= collection.aside(cloudQuestionCalls, async (look) => {
        await followPlan(look, plan);
        return cloudResourcesOf(look.view());
      });
      return touched;
    },
  };
};

/** The cloud's names for what the incident touches. Pure. */
export const cloudResourcesOf = (facts: ClusterFacts): CloudResources => {
  const scope = scopeOf(facts);
  const ill = facts.all('Node').filter(isNotReady);
  const unborn = facts.all('NodeClaim').filter((claim) => conditionsOf(claim).some(({ status }) => status === 'False'));
  const nodes = [...scope.nodes.filter(isNotReady), ...ill, ...scope.nodes];
  const claims = [...scope.claims, ...unborn];
  const nodeClasses = [...facts.all('EC2NodeClass'), ...facts.all('NodeClass')];
  const status = (field: string): any[] => nodeClasses.flatMap((nodeClass) => nodeClass.status?.[field] ?? []);
  return {
    namespaces: scope.namespaces,
    instanceIds: distinct([...nodes, ...claims.map(asNode)].map(instanceIdOf)),
    subnetIds: distinct(status('subnets').map((subnet) => subnet.id)),
    securityGroupIds: distinct(status('securityGroups').map((group) => group.id)),
    imageIds: distinct(status('amis').map((image) => image.id)),
    volumeIds: distinct(scope.pods.flatMap((pod) => volumesOf(facts, pod).map(({ volume }) => volumeIdOf(volume)))),
    nodegroups: distinct(nodes.map((node) => node.metadata.labels?.['eks.amazonaws.com/nodegroup'])),
    nodeRoles: distinct(nodeClasses.map((nodeClass) => nodeClass.spec?.role)),
    podRoles: distinct(scope.pods.map((pod) => roleOf(facts, pod))),
    nodeRoleRefused: nodeClasses.some((nodeClass) =>
      conditionsOf(nodeClass).some(({ reason }) => reason === 'UnauthorizedNodeRole'),
    ),
    loadBalancerHosts: distinct(
      [...facts.all('Service'), ...facts.all('Ingress')].flatMap((object) =>
        (object.status?.loadBalancer?.ingress ?? []).map((entry: any) => entry.hostname),
      ),
    ),
    images: distinct(scope.pods.filter(isTroubled).flatMap((pod) => containersOf(pod).map(({ image }) => image))),
    queues: distinct(facts.all('Pod').flatMap(containersOf).map(queueOf)),
    launchErrors: distinct(
      [
        ...claims.flatMap((claim) => conditionsOf(claim).map(({ message }) => message)),
        ...facts.events.map(({ message }) => message),
      ].map((text) => launchError.exec(text ?? '')?.[0]),
    ),
  };
};

const launchError = /\b(VcpuLimitExceeded|MaxSpotInstanceCountExceeded|AddressLimitExceeded|VolumeLimitExceeded)\b/;

/** A claim's status bears the provider's id before a node exists. */
const asNode = (claim: KubeObject): KubeObject => ({ ...claim, spec: { providerID: claim.status?.providerID } });

const volumeIdOf = (volume: KubeObject | undefined): string | undefined =>
  /vol-[0-9a-f]+/.exec(volume?.spec?.csi?.volumeHandle ?? volume?.spec?.awsElasticBlockStore?.volumeID ?? '')?.[0];

const roleOf = (facts: ClusterFacts, pod: KubeObject): string | undefined =>
  facts.find('ServiceAccount', pod.spec?.serviceAccountName ?? 'default', pod.metadata.namespace)?.metadata
    .annotations?.['eks.amazonaws.com/role-arn'];

const queueOf = (container: any): string | undefined =>
  (container.env ?? []).find((entry: any) => entry.name === 'INTERRUPTION_QUEUE')?.value;

const distinct = (names: (string | undefined)[]): string[] =>
  [...new Set(names.filter((name) => name !== undefined && name !== ''))].slice(0, maxNames) as string[];
