/**
 * What metrics were called before, by the name that rules ask for. Karpenter's v1.0 migration guide:
 * karpenter.sh/docs/upgrading/v1-migration, "Updated metrics".
 */
const former: Record<string, string[]> = {
  karpenter_nodepools_usage: ['karpenter_nodepool_usage'],
  karpenter_nodepools_limit: ['karpenter_nodepool_limit'],
  karpenter_nodes_created_total: ['karpenter_nodes_created'],
  karpenter_nodes_terminated_total: ['karpenter_nodes_terminated'],
  karpenter_nodeclaims_created_total: ['karpenter_nodeclaims_created'],
  karpenter_nodeclaims_disrupted_total: ['karpenter_nodeclaims_disrupted'],
  karpenter_interruption_received_messages_total: ['karpenter_interruption_received_messages'],
  karpenter_scheduler_queue_depth: ['karpenter_provisioner_scheduling_queue_depth'],
};

/** The name that rules know, and those that an older installation has in its place. */
export const namesOf = (metric: string): string[] => [metric, ...(former[metric] ?? [])];
