import type { Provider } from '../domain/layer.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import type { OwnerDirectory, Party } from './directory.ts';

const support = {
  aws: 'AWS Support',
  gcp: 'Google Cloud Support',
  azure: 'Azure Support',
  alibaba: 'Alibaba Cloud Support',
} as const;
export type Vendor = keyof typeof support | 'other';

const ofProvider: Record<Exclude<Provider, 'self'>, keyof typeof support> = {
  eks: 'aws',
  'eks-auto': 'aws',
  gke: 'gcp',
  aks: 'azure',
  ack: 'alibaba',
};

/** Prefixes of spec.providerID as the cloud controller managers write them. Alibaba's is `<region>.<instance>`. */
const ofProviderId: [RegExp, keyof typeof support][] = [
  [/^aws:\/\//, 'aws'],
  [/^gce:\/\//, 'gcp'],
  [/^azure:\/\//, 'azure'],
  [/^(?:alicloud:\/\/|[a-z]{2}-[a-z0-9-]+\.i-)/, 'alibaba'],
];

/** Whose machines these are, and the fact that says so. A self-managed cluster runs on somebody's infrastructure too. */
export const vendorOf = (facts: ClusterFacts): { vendor: Vendor; knownBy: string } => {
  const { provider, name } = facts.identity;
  if (provider !== 'self') return { vendor: ofProvider[provider], knownBy: `provider ${provider} of cluster ${name}` };
  for (const node of facts.all('Node')) {
    const id: unknown = node.spec?.providerID;
    const match = typeof id === 'string' ? ofProviderId.find(([prefix]) => prefix.test(id)) : undefined;
    if (match) return { vendor: match[1], knownBy: `providerID ${id} of Node ${node.metadata.name}` };
  }
  return { vendor: 'other', knownBy: `cluster ${name} is self-managed and no node's providerID names a cloud` };
};

export const vendorParty = (facts: ClusterFacts, directory: OwnerDirectory): Party & { knownBy: string } => {
  const { vendor, knownBy } = vendorOf(facts);
  const entry = directory.vendors[facts.identity.provider];
  const name = vendor === 'other' ? 'Infrastructure provider' : support[vendor];
  return {
    name: entry?.name || name,
    mention: entry?.mention ?? null,
    channel: entry?.channel ?? null,
    knownBy: entry ? `${knownBy}; directory entry vendors.${facts.identity.provider}` : knownBy,
  };
};
