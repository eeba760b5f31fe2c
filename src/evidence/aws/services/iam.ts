import { type Service, sdkClient } from '../operation.ts';

export const iam: Service = {
  iam: 'iam',
  budget: { perSecond: 1, burst: 3 },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-iam'), 'IAMClient', settings),
  operations: {
    getRole: {
      requests: ({ podRoles, nodeRoles, nodeRoleRefused }) =>
        (nodeRoleRefused ? [...nodeRoles, ...podRoles] : [...podRoles, ...nodeRoles])
          .slice(0, 1)
          .map((role) => ({ RoleName: role.split('/').at(-1) })),
      // The trust policy arrives URL-encoded.
      shape: ({ Role }) => ({
        Role: { ...Role, AssumeRolePolicyDocument: decoded(Role.AssumeRolePolicyDocument) },
      }),
    },
  },
};

const decoded = (document: string | undefined): unknown => {
  try {
    return document === undefined ? undefined : JSON.parse(decodeURIComponent(document));
  } catch {
    return document;
  }
};
