import type { KubeObject } from '../domain/kubernetes.ts';
import type { ClusterFacts } from './cluster.ts';

/** On these the vendor runs API server, etcd, scheduler and controller manager. */
export const isManaged = (facts: ClusterFacts): boolean => facts.identity.provider !== 'self';

/** Who owns the control plane of this cluster. */
export const controlPlaneOwner = (facts: ClusterFacts): 'cloud' | 'platform' =>
  isManaged(facts) ? 'cloud' : 'platform';

/** Providers of rented machines by the scheme of `spec.providerID`; a self-managed cluster may run on them too. */
const rented = /^(aws|gce|azure|alicloud|digitalocean|hcloud|linode|ibm|ibmcloud|oci|openstack):\/\//;

/** Whose hardware a node is: the vendor's, or the organisation's own in a data centre of its own. */
export const machineOwner = (facts: ClusterFacts, node: KubeObject): 'cloud' | 'platform' =>
  isManaged(facts) || rented.test(node.spec?.providerID ?? '') ? 'cloud' : 'platform';

const vendors = {
  eks: 'AWS',
  'eks-auto': 'AWS',
  gke: 'Google Cloud',
  aks: 'Azure',
  ack: 'Alibaba Cloud',
  self: 'the cloud',
};

export const vendorOf = (facts: ClusterFacts): string => vendors[facts.identity.provider];
