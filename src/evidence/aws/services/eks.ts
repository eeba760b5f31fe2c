import { type Context, type Earlier, isUnwell, type Service, sdkClient } from '../operation.ts';

/** Things of one kind that are described one by one, the concerned ones first. */
const maxDescribed = 8;

const cluster = ({ clusterName }: Context) => [{ clusterName }];

/** The node role's entry, where the cluster has one for the role that IAM knows. */
const nodeEntry = ({ clusterName, nodeRoles }: Context, earlier: Earlier): Record<string, unknown>[] => {
  const entries: string[] = earlier['eks.listAccessEntries']?.accessEntries ?? [];
  const role = earlier['iam.getRole']?.Role;
  const principalArn = entries.find(
    (entry) =>
      (role && nodeRoles.includes(role.RoleName) && entry === role.Arn) ||
      nodeRoles.some((name) => entry === name || entry.endsWith(`/${name}`)),
  );
  return principalArn ? [{ clusterName, principalArn }] : [];
};

const describeEach =
  (parameter: string, list: string, first: (context: Context) => string[] = () => []) =>
  (context: Context, earlier: Earlier): Record<string, unknown>[] => {
    const listed: string[] = Object.values(earlier[list] ?? {}).find(Array.isArray) ?? [];
    return [...new Set([...first(context), ...listed])]
      .slice(0, maxDescribed)
      .map((name) => ({ clusterName: context.clusterName, [parameter]: name }));
  };

/** The API promises no order, and the newest stand at one end or the other. */
const bothEnds = (ids: string[]): string[] => [
  ...new Set([...ids.slice(0, maxDescribed / 2), ...ids.slice(-maxDescribed / 2)]),
];

const mostTelling =
  (field: string) =>
  (answers: any[]): any =>
    answers.find((answer) => isUnwell(answer[field])) ?? answers[0];

const list = (field: string) => ({ requests: cluster, standalone: true, list: field, whole: true });

export const eks: Service = {
  iam: 'eks',
  budget: { perSecond: 4, burst: 12 },
  token: { from: 'nextToken', to: 'nextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-eks'), 'EKSClient', settings),
  operations: {
    describeCluster: { requests: ({ clusterName }) => [{ name: clusterName }], standalone: true },
    listUpdates: { requests: ({ clusterName }) => [{ name: clusterName }], standalone: true, list: 'updateIds' },
    describeUpdate: {
      after: ['eks.listUpdates'],
      standalone: true,
      requests: ({ clusterName }, earlier) =>
        bothEnds(earlier['eks.listUpdates']?.updateIds ?? []).map((updateId) => ({ name: clusterName, updateId })),
      pick: (answers) => {
        const newest = answers.toSorted((a, b) => (a.update.createdAt < b.update.createdAt ? 1 : -1));
        return newest.find(({ update }) => update.status === 'InProgress') ?? newest[0];
      },
    },
    listNodegroups: list('nodegroups'),
    describeNodegroup: {
      after: ['eks.listNodegroups'],
      requests: describeEach('nodegroupName', 'eks.listNodegroups', ({ nodegroups }) => nodegroups),
      pick: mostTelling('nodegroup'),
    },
    listAddons: list('addons'),
    describeAddon: {
      after: ['eks.listAddons'],
      standalone: true,
      requests: describeEach('addonName', 'eks.listAddons'),
      pick: mostTelling('addon'),
    },
    listFargateProfiles: list('fargateProfileNames'),
    describeFargateProfile: {
      after: ['eks.listFargateProfiles'],
      requests: describeEach('fargateProfileName', 'eks.listFargateProfiles'),
      pick: (answers, { namespaces }) =>
        answers.find(({ fargateProfile }) =>
          (fargateProfile.selectors ?? []).some((selector: any) => namespaces.includes(selector.namespace)),
        ) ?? mostTelling('fargateProfile')(answers),
    },
    listAccessEntries: { ...list('accessEntries'), maxPages: 10 },
    describeAccessEntry: { after: ['eks.listAccessEntries', 'iam.getRole'], requests: nodeEntry },
    listAssociatedAccessPolicies: { after: ['eks.listAccessEntries', 'iam.getRole'], requests: nodeEntry },
    listInsights: {
      requests: ({ clusterName }) => [{ clusterName, filter: { statuses: ['WARNING', 'ERROR'] } }],
      standalone: true,
      list: 'insights',
    },
  },
};
