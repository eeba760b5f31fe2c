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
- \`configmaps\`: \`get\` only, in kube-system, by name: ${configMapNames.join(', ')}.
- Outside of resources: ${healthPaths.join(' and ')}, which every authenticated user may read by default.
`;
  return `${before}| API group | \`get\`, \`list\` |\n| --- | --- |\n${[...byGroup].map(row).join('\n')}\n${after}`;
}
