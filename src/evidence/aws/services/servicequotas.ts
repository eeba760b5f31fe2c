import { type Context, type Service, sdkClient } from '../operation.ts';

/** The quota behind an error code of a failed launch; codes of the Service Quotas console. */
const quotas: Record<string, { ServiceCode: string; QuotaCode: string }> = {
  VcpuLimitExceeded: { ServiceCode: 'ec2', QuotaCode: 'L-1216C47A' },
  MaxSpotInstanceCountExceeded: { ServiceCode: 'ec2', QuotaCode: 'L-34B43A08' },
  AddressLimitExceeded: { ServiceCode: 'ec2', QuotaCode: 'L-0263D0A3' },
  VolumeLimitExceeded: { ServiceCode: 'ebs', QuotaCode: 'L-7A658B76' },
};

const inPlay = ({ launchErrors }: Context) =>
  launchErrors.map((code) => quotas[code]).filter((quota) => quota !== undefined);

export const servicequotas: Service = {
  iam: 'servicequotas',
  budget: { perSecond: 1, burst: 3 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-service-quotas'), 'ServiceQuotasClient', settings),
  operations: {
    getServiceQuota: { requests: (context) => inPlay(context).slice(0, 1) },
    listServiceQuotas: {
      requests: (context) =>
        inPlay(context)
          .slice(0, 1)
          .map(({ ServiceCode }) => ({ ServiceCode })),
      list: 'Quotas',
    },
  },
};
