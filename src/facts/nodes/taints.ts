/** Taints that a controller puts on a node for a time: a state of the node, not a wish of its owner. */
const system =
  /^(node\.kubernetes\.io\/|node\.cloudprovider\.kubernetes\.io\/|karpenter\.sh\/(unregistered|disrupted|disruption)|ToBeDeletedByClusterAutoscaler|DeletionCandidateOfClusterAutoscaler|aws-node-termination-handler\/|startup-taint\.|ignore-taint\.|status-taint\.|cloud\.google\.com\/impending)|agent-not-ready$/;

export const isSystemTaint = (key: string): boolean => system.test(key);
