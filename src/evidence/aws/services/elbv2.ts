import { type Service, sdkClient } from '../operation.ts';

const maxTargetGroups = 5;

export const elbv2: Service = {
  iam: 'elasticloadbalancing',
  budget: { perSecond: 1, burst: 6 },
  token: { from: 'NextMarker', to: 'Marker' },
  load: async (settings) =>
    sdkClient(await import('@aws-sdk/client-elastic-load-balancing-v2'), 'ElasticLoadBalancingV2Client', settings),
  operations: {
    describeLoadBalancers: {
      requests: ({ loadBalancerHosts }) => {
        const Names = [...new Set(loadBalancerHosts.map(nameOf).filter((name) => name !== undefined))].slice(0, 5);
        return Names.map((name) => ({ Names: [name] }));
      },
      list: 'LoadBalancers',
    },
    describeTargetGroups: {
      after: ['elbv2.describeLoadBalancers'],
      requests: (_, earlier) =>
        (earlier['elbv2.describeLoadBalancers']?.LoadBalancers ?? []).map(({ LoadBalancerArn }: any) => ({
          LoadBalancerArn,
        })),
      list: 'TargetGroups',
    },
    describeTargetHealth: {
      after: ['elbv2.describeTargetGroups'],
      requests: (_, earlier) =>
        (earlier['elbv2.describeTargetGroups']?.TargetGroups ?? [])
          .slice(0, maxTargetGroups)
          .map(({ TargetGroupArn }: any) => ({ TargetGroupArn })),
      list: 'TargetHealthDescriptions',
    },
  },
};

/** `internal-k8s-shop-web-0a1b2c3d4e-123456.eu-west-1.elb.amazonaws.com` belongs to `k8s-shop-web-0a1b2c3d4e`. */
const nameOf = (host: string): string | undefined =>
  /^(?:internal-)?(.+)-[0-9a-f]+\.(?:elb\.)?[a-z0-9-]+\.(?:elb\.)?amazonaws\.com/.exec(host)?.[1];
