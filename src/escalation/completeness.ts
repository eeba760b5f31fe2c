import type { Layer } from '../domain/layer.ts';
import { inLanguage, type Language, type Text, text } from '../domain/text.ts';
import type { PackContext } from './context.ts';

/** One thing a receiver asks for first, and where to get it. */
interface Requirement {
  isMissing(pack: PackContext): boolean;
  ask(pack: PackContext): Text;
}

const accountWord: Record<PackContext['cluster']['vendor'], string> = {
  aws: 'AWS account id',
  gcp: 'Google Cloud project id',
  azure: 'Azure subscription id',
  alibaba: 'Alibaba Cloud account id',
  other: 'account or customer number',
};

const has =
  (...boundaries: string[]) =>
  (pack: PackContext): boolean =>
    boundaries.includes(pack.verdict.boundary);
const onCalls = has('capacity', 'provisioning', 'quota', 'control-plane');
const onMachines = has('node', 'capacity', 'provisioning', 'storage', 'network', 'zone');
const isOfVendor = (pack: PackContext): boolean => pack.cluster.vendor === 'aws' || pack.cluster.vendor === 'other';

const lookUpRequests: Record<PackContext['cluster']['vendor'], string> = {
  aws: 'CloudTrail, event history, the failed call',
  gcp: 'Cloud Audit Logs, protoPayload.status of the failed call',
  azure: 'Activity log, correlation id of the failed operation',
  alibaba: 'ActionTrail, RequestId of the failed call',
  other: "the provider's API log",
};

const everywhere: Requirement[] = [
  {
    isMissing: ({ verdict }) => verdict.onset === '',
    ask: () => text('when it began (UTC): the evidence holds no onset'),
  },
  {
    isMissing: ({ verdict }) => verdict.impact === '',
    ask: () => text('the impact on users: the evidence shows none'),
  },
];

const cloud: Requirement[] = [
  {
    isMissing: ({ cluster }) => cluster.account === '',
    ask: ({ cluster }) =>
      text(`the ${accountWord[cluster.vendor]}: set account of cluster ${cluster.name} in faultline.yaml`),
  },
  {
    isMissing: ({ cluster }) => cluster.region === '',
    ask: ({ cluster }) => text(`the region: set region of cluster ${cluster.name} in faultline.yaml`),
  },
  {
    isMissing: ({ cluster }) => cluster.version === '',
    ask: () => text('the version of the control plane: kubectl version'),
  },
  {
    isMissing: (pack) =>
      onMachines(pack) && pack.machines.items.length === 0 && pack.identifiers.instances.length === 0,
    ask: () =>
      text('ids of affected machines: kubectl get nodes -o custom-columns=NODE:.metadata.name,ID:.spec.providerID'),
  },
  {
    isMissing: (pack) => onCalls(pack) && pack.identifiers.requests.length === 0,
    ask: ({ cluster }) => text(`a request id of a failed call: ${lookUpRequests[cluster.vendor]}`),
  },
  {
    isMissing: (pack) =>
      isOfVendor(pack) &&
      has('zone')(pack) &&
      !pack.zones.some((zone) => zone.includes(' = ')) &&
      pack.identifiers.zoneIds.length === 0,
    ask: () => text('the zone id, since zone names differ between accounts: aws ec2 describe-availability-zones'),
  },
  {
    isMissing: (pack) => has('storage')(pack) && pack.identifiers.volumes.length === 0,
    ask: () => text('ids of affected volumes: kubectl get pv -o yaml, spec.csi.volumeHandle'),
  },
  {
    isMissing: (pack) => has('node')(pack) && pack.cluster.vendor === 'aws',
    ask: ({ identifiers, machines }) =>
      text(
        `the console output: aws ec2 get-console-output --latest --instance-id ${identifiers.instances[0] ?? (machines.items[0]?.instance || '<id>')}`,
      ),
  },
  { isMissing: () => true, ask: () => text('a contact with time zone for the call-back') },
];

const platform: Requirement[] = [
  {
    isMissing: ({ chain, evidence }) => chain.length === 0 && evidence.items.length === 0,
    ask: () => text('the object at fault: no chain of evidence reaches one'),
  },
  {
    isMissing: ({ chain }) => chain.length > 0 && !chain.some(({ uid }) => uid !== ''),
    ask: ({ chain }) => text(`the uid of ${chain[0]?.object}: kubectl get … -o jsonpath='{.metadata.uid}'`),
  },
  {
    isMissing: (pack) =>
      has('quota', 'admission', 'config', 'provisioning', 'scheduling')(pack) && pack.changes.writers.length === 0,
    ask: ({ chain }) =>
      text(`who changed ${chain[0]?.object ?? 'it'} last: the audit log, or kubectl get … --show-managed-fields`),
  },
];

const app: Requirement[] = [
  {
    isMissing: ({ workload }) => workload === null,
    ask: () => text('the workload at fault: it is not among the objects that were read'),
  },
  {
    isMissing: ({ workload, verdict }) =>
      ['application', 'probe', ''].includes(verdict.boundary) && workload?.logs.length === 0,
    ask: ({ workload }) => text(`the log of the failing container: kubectl logs --previous of ${workload?.object}`),
  },
  {
    isMissing: ({ workload }) =>
      workload !== null && workload.rollouts.length === 0 && workload.object.startsWith('Deployment'),
    ask: ({ workload }) => text(`what was released when: kubectl rollout history of ${workload?.object}`),
  },
  {
    isMissing: ({ workload, evidence }) =>
      (workload?.containers.some(({ lastExit }) => lastExit.includes('OOMKilled')) ?? false) &&
      !evidence.items.some(({ source }) => source === 'metrics'),
    ask: () => text('the course of memory before the kill: container_memory_working_set_bytes'),
  },
];

const requirements: Record<Layer, Requirement[]> = {
  cloud: [...everywhere, ...cloud],
  platform: [...everywhere, ...platform],
  app: [...everywhere, ...app],
};

/** What the receiver will ask for and the evidence does not hold, each with the way to get it. */
export const incompleteIn = (audience: Layer, pack: PackContext, language: Language): string[] => [
  ...requirements[audience]
    .filter((requirement) => requirement.isMissing(pack))
    .map(({ ask }) => inLanguage(ask(pack), language)),
  ...openReads(pack),
];

const openReads = ({ missing, unknown }: PackContext): string[] => {
  const reads = [...missing, ...unknown].map(
    ({ layer, missing: what, fix }) => `${layer}: ${what}${fix ? ` (${fix})` : ''}`,
  );
  return [...new Set(reads)];
};
