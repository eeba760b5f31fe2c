import type { ClusterFacts } from './cluster.ts';

/** On these the vendor runs API server, etcd, scheduler and controller manager. */
export const isManaged = (facts: ClusterFacts): boolean => facts.identity.provider !== 'self';

/** Who owns the control plane of this cluster. */
export const controlPlaneOwner = (facts: ClusterFacts): 'cloud' | 'platform' =>
  isManaged(facts) ? 'cloud' : 'platform';

const vendors = {
  eks: 'AWS',
  'eks-auto': 'AWS',
  gke: 'Google Cloud',
  aks: 'Azure',
  ack: 'Alibaba Cloud',
  self: 'the cloud',
};

export const vendorOf = (facts: ClusterFacts): string => vendors[facts.identity.provider];
