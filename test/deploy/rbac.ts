import { stringify } from 'yaml';
import { healthPaths, type Permission, permissions } from '../../src/evidence/kubernetes/permissions.ts';

interface Rule {
  apiGroups?: string[];
  resources?: string[];
  nonResourceURLs?: readonly string[];
  verbs: string[];
}

const name = 'faultline';
const labels = { 'app.kubernetes.io/name': name };
const roleApi = 'rbac.authorization.k8s.io/v1';
const subjects = [{ kind: 'ServiceAccount', name, namespace: name }];

/** Rights as rules, one per API group and set of verbs. */
function rulesOf(rights: Permission[]): Rule[] {
  const verbsOf = new Map<string, Permission & { verbs: string[] }>();
  for (const right of rights) {
    const resource = right.subresource ? `${right.resource}/${right.subresource}` : right.resource;
    const key = [right.group, resource].join(' ');
    const known = verbsOf.get(key) ?? { ...right, resource, verbs: [] };
    known.verbs.push(right.verb);
    verbsOf.set(key, known);
  }
  const rules = new Map<string, Rule>();
  for (const { group, resource, verbs } of verbsOf.values()) {
    const key = [group, verbs].join(' ');
    const rule = rules.get(key) ?? { apiGroups: [group], resources: [], verbs };
    if (!rule.resources!.includes(resource)) rule.resources!.push(resource);
    rules.set(key, rule);
  }
  return [...rules.values()];
}

const clusterRole = (suffix: string, rules: Rule[]) => [
  { apiVersion: roleApi, kind: 'ClusterRole', metadata: { name: name + suffix, labels }, rules },
  {
    apiVersion: roleApi,
    kind: 'ClusterRoleBinding',
    metadata: { name: name + suffix, labels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: name + suffix },
    subjects,
  },
];

const role = (suffix: string, namespace: string, rules: Rule[]) => [
  { apiVersion: roleApi, kind: 'Role', metadata: { name: name + suffix, namespace, labels }, rules },
  {
    apiVersion: roleApi,
    kind: 'RoleBinding',
    metadata: { name: name + suffix, namespace, labels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: name + suffix },
    subjects,
  },
];

const identity = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: name, labels } },
];

const health: Rule = { nonResourceURLs: healthPaths, verbs: ['get'] };

const document = (header: string, objects: object[]): string =>
  header + objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join('---\n');

const provenance =
  '# Follows from the resources that triage reads (src/evidence/kubernetes/permissions.ts); a test keeps it equal.\n' +
  '# Only get and list; no Secrets, no exec, attach, port-forward or proxy.\n';

/** The whole cluster, with or without container logs. */
export function clusterManifest(options: { logs: boolean }): string {
  const rights = permissions().filter(({ subresource }) => options.logs || subresource !== 'log');
  const header = options.logs
    ? '# Read-only access to a whole cluster.\n'
    : '# Read-only access to a whole cluster, container logs excepted. Verdicts that rest on a log then end "unknown".\n';
  return document(header + provenance, [...identity, ...clusterRole('', [...rulesOf(rights), health])]);
}

/** Named namespaces, and what belongs to no namespace. */
export function namespacedManifest(): string {
  const rights = permissions();
  const namespaced = rulesOf(rights.filter(({ scope }) => scope === 'namespace'));
  const header =
    '# Read-only access to named namespaces, and to what belongs to none (nodes, volumes, node pools).\n' +
    '# Copy the Role and RoleBinding of my-app for each namespace. kube-node-lease holds the heartbeats of the nodes,\n' +
    '# kube-system the add-ons: without them the layers of vendor and platform end "unknown".\n';
  return document(header + provenance, [
    ...identity,
    ...clusterRole('-cluster-scoped', [...rulesOf(rights.filter(({ scope }) => scope === 'cluster')), health]),
    ...role('', 'my-app', namespaced),
    ...role('', 'kube-system', namespaced),
    ...role('', 'kube-node-lease', rulesOf(rights.filter(({ resource }) => resource === 'leases'))),
  ]);
}
