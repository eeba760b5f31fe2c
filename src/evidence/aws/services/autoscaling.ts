import { byFilter, type Service, sdkClient } from '../operation.ts';

/** Groups whose activities are read: those that lack instances. */
const maxGroups = 3;

export const autoscaling: Service = {
  iam: 'autoscaling',
  budget: { perSecond: 1, burst: 4 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-auto-scaling'), 'AutoScalingClient', settings),
  operations: {
    describeAutoScalingGroups: {
      standalone: true,
      requests: ({ clusterName }) => byFilter('tag-key', [`kubernetes.io/cluster/${clusterName}`]),
      list: 'AutoScalingGroups',
    },
    describeScalingActivities: {
      after: ['autoscaling.describeAutoScalingGroups'],
      standalone: true,
      requests: (_, earlier) =>
        (earlier['autoscaling.describeAutoScalingGroups']?.AutoScalingGroups ?? [])
          .filter((group: any) => inService(group) < group.DesiredCapacity)
          .slice(0, maxGroups)
          .map((group: any) => ({ AutoScalingGroupName: group.AutoScalingGroupName, MaxRecords: 20 })),
      list: 'Activities',
      maxPages: 1,
    },
  },
};

const inService = (group: any): number =>
  (group.Instances ?? []).filter((instance: any) => instance.LifecycleState === 'InService').length;
