import { healthPaths, permissions } from '../../src/evidence/kubernetes/permissions.ts';
import { configMapNames } from '../../src/triage/resources.ts';

const before = `# Permissions

Faultline reads; it writes nothing to a cluster. It sends \`get\` and \`list\` requests for the resources below, and one
kind of \`create\`: SelfSubjectAccessReview, by which \`faultline doctor\` asks what it may do. Secrets, \`exec\`, \`attach\`,
\`port-forward\` and \`proxy\` are never requested, so they need not be denied.

| To read | apply |
| --- | --- |
| a whole cluster | \`kubectl apply -f deploy/clusterrole.yaml\` |
| a whole cluster, without container logs | \`kubectl apply -f deploy/clusterrole-without-logs.yaml\` |
| named namespaces | \`deploy/namespaces.yaml\`, its Role and RoleBinding copied for each namespace |

\`faultline doctor\` checks each right and prints the line that grants it. A right that is missing costs the evidence it
would have given, never the verdict: the layer that needs it ends "unknown" and names the grant. Rights on custom
resources that a cluster does not have do no harm and may be left out.

`;

const row = ([group, resources]: [string, Set<string>]): string =>
  `| ${group || 'core'} | ${[...resources].join(', ')} |`;

/** docs/permissions.md */
export function permissionsPage(): string {
  const byGroup = new Map<string, Set<string>>();
  for (const { group, resource, subresource } of permissions()) {
    const known = byGroup.get(group) ?? new Set();
    known.add(subresource ? `${resource}/${subresource}` : resource);
    byGroup.set(group, known);
  }
  const after = `
- \`pods/log\`: \`get\` only; at most the last lines of the containers in question.
- \`configmaps\`: \`get\` only, by name, never a list. Of kube-system: ${configMapNames.join(', ')}. Of other
  namespaces: those that a troubled pod mounts or takes its environment from, since a change of one of them breaks pods
  without a rollout. What is kept of these is the names of their keys and who wrote them when (managedFields): each
  value is replaced by its length as it is read, before a rule sees it or anything is stored, shown or logged. Without
  this right all other evidence stays; leave it out of the role where even that is too much.
- Argo CD Applications and Flux HelmReleases: their source, revisions and state are kept; the values, parameters and
  plugin settings that they are rendered with are dropped as they are read. Helm's own release records are Secrets and
  never read: a Helm release is known by the labels and annotations of what it installed.
- Outside of resources: ${healthPaths.join(' and ')}, and /apis for what the cluster serves, which every authenticated user may read by default.
`;
  return `${before}| API group | \`get\`, \`list\` |\n| --- | --- |\n${[...byGroup].map(row).join('\n')}\n${after}`;
}
