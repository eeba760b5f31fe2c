import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';

/** Azure subscription or Google project in a resource path. */
const scopes = [
  /\/subscriptions\/([0-9a-f-]{36})/gi,
  /projects\/([a-z][a-z0-9-]{4,28}[a-z0-9])\//g,
  /gce:\/\/([a-z][a-z0-9-]+)\//g,
];

const scopesIn = (text: string): string[] =>
  scopes.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!.toLowerCase()));

/** The subscription that a message names, where none of the cluster's own nodes lies in it. */
export const foreignSubscription = (
  facts: ClusterFacts,
  message: string,
): { named: string; own: string; node: KubeObject } | undefined => {
  const named = scopesIn(message);
  const nodes = facts
    .all('Node')
    .map((node) => ({ node, own: scopesIn(node.spec?.providerID ?? '')[0] }))
    .filter((entry) => entry.own !== undefined);
  const stranger = named.find((scope) => nodes.every((entry) => entry.own !== scope));
  return stranger && nodes[0] ? { named: stranger, own: nodes[0].own!, node: nodes[0].node } : undefined;
};
