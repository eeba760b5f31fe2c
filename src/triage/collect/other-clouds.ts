import type { ReadRecord } from '../../domain/facts.ts';
import type { Provider } from '../../domain/layer.ts';

/** Vendors whose cloud API has no reader yet, and where a person looks instead. */
const unread: Partial<Record<Provider, { vendor: string; look: string }>> = {
  gke: {
    vendor: 'Google Cloud',
    look: 'look at https://status.cloud.google.com and run gcloud container operations list and gcloud compute operations list',
  },
  aks: {
    vendor: 'Azure',
    look: 'look at Service Health in the Azure portal and run az monitor activity-log list --offset 6h',
  },
  ack: {
    vendor: 'Alibaba Cloud',
    look: 'look at https://status.alibabacloud.com and at the events of the cluster and its ECS instances in the console',
  },
};

/** The gap of a vendor whose API cannot be asked; none for AWS, which has its reader, and for machines of one's own. */
export const unreadCloud = (provider: Provider): ReadRecord[] => {
  const known = unread[provider];
  if (!known) return [];
  const message = `unknown: there is no reader yet for the API of ${known.vendor}`;
  const gap = { reason: 'not-configured' as const, message, fix: known.look };
  return [{ source: 'cloud-api', what: `the API of ${known.vendor}`, gap, complete: false, count: 0 }];
};
