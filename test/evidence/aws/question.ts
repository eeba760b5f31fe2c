import type { CloudQuestion, CloudResources } from '../../../src/triage/ports.ts';

const nothing: CloudResources = {
  namespaces: [],
  instanceIds: [],
  subnetIds: [],
  securityGroupIds: [],
  imageIds: [],
  volumeIds: [],
  nodegroups: [],
  nodeRoles: [],
  podRoles: [],
  nodeRoleRefused: false,
  loadBalancerHosts: [],
  images: [],
  queues: [],
  launchErrors: [],
};

/** A question of 08:30 about an incident that touches these. */
export const questionAbout = (touched: Partial<CloudResources> = {}): CloudQuestion => ({
  since: '2026-11-20T02:30:00Z',
  until: '2026-11-20T08:30:00Z',
  touched: async () => ({ ...nothing, ...touched }),
});
