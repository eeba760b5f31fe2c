import { type BearerAccess, ClusterAccessError } from '../kubernetes/access.ts';
import { type AwsAccount, systemClock } from './account.ts';
import { eksTokens } from './eks-token.ts';

/** The way to an EKS cluster without a kubeconfig. Throws ClusterAccessError with what is missing. */
export const eksAccess = async (account: AwsAccount, clusterName: string): Promise<BearerAccess> => {
  const read = await account.send('eks.describeCluster', { name: clusterName });
  if (!read.ok) {
    const fix = read.gap.reason === 'not-found' ? 'correct eksName, region or role of the cluster' : read.gap.fix;
    throw new ClusterAccessError(`EKS cluster ${clusterName} in ${account.region}: ${read.gap.message}; ${fix}`);
  }
  const { endpoint, certificateAuthority, status } = read.value.cluster;
  if (!endpoint || !certificateAuthority?.data)
    throw new ClusterAccessError(`EKS cluster ${clusterName} in ${account.region} has no endpoint: it is ${status}`);
  const { region, credentials } = account;
  const token = eksTokens({ region, clusterName, credentials, now: systemClock.now });
  return { server: endpoint, caData: certificateAuthority.data, token };
};
