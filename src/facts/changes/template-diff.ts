import type { KubeObject } from '../../domain/kubernetes.ts';
import { podSpecOf } from '../pods.ts';
import { envOf } from '../workloads/workloads.ts';

/** Template annotations that change without changing what runs. */
const restartOnly = new Set(['kubectl.kubernetes.io/restartedAt', 'kubectl.kubernetes.io/last-applied-configuration']);
/** A value longer than this is named by its field alone: sentences quote these changes. */
const longestValue = 240;

const containerFields = [
  'envFrom',
  'command',
  'args',
  'ports',
  'resources',
  'startupProbe',
  'livenessProbe',
  'readinessProbe',
  'lifecycle',
  'volumeMounts',
  'securityContext',
  'imagePullPolicy',
];

const podFields = [
  'volumes',
  'nodeSelector',
  'affinity',
  'tolerations',
  'topologySpreadConstraints',
  'securityContext',
  'imagePullSecrets',
  'priorityClassName',
  'runtimeClassName',
  'schedulerName',
  'hostNetwork',
  'dnsPolicy',
  'dnsConfig',
  'terminationGracePeriodSeconds',
];

/**
 * What differs between two pod templates, in words and in the order in which it tells: images, environment, command,
 * resources, probes; then what the pod asks of its surroundings. A restart without a change gives nothing.
 */
export const templateChanges = (before: KubeObject, after: KubeObject): string[] => {
  const [old, now] = [podSpecOf(before), podSpecOf(after)];
  const differences = new Differences();
  for (const list of ['containers', 'initContainers']) compareContainers(old[list] ?? [], now[list] ?? [], differences);
  differences.compare('serviceAccountName', old.serviceAccountName ?? 'default', now.serviceAccountName ?? 'default');
  for (const field of podFields) differences.compare(field, old[field], now[field]);
  compareAnnotations(templateMeta(before).annotations, templateMeta(after).annotations, differences);
  return differences.found;
};

class Differences {
  readonly found: string[] = [];

  compare(what: string, before: unknown, after: unknown): void {
    const [old, now] = [show(before), show(after)];
    if (old !== now)
      this.found.push(old.length + now.length > longestValue ? `${what} changed` : `${what} ${old} → ${now}`);
  }
}

const compareContainers = (before: any[], after: any[], differences: Differences): void => {
  for (const container of after) {
    const former = before.find((entry) => entry.name === container.name);
    if (!former) {
      if (before.length > 0) differences.found.push(`container ${container.name} added (${container.image})`);
      continue;
    }
    differences.compare('image', former.image, container.image);
    const names = new Set<string>([...(former.env ?? []), ...(container.env ?? [])].map((entry: any) => entry.name));
    for (const name of names) differences.compare(`env ${name}`, envOf(former, name), envOf(container, name));
    for (const field of containerFields)
      if (field === 'ports') differences.compare('ports', portsOf(former), portsOf(container));
      else differences.compare(field, former[field], container[field]);
  }
  for (const former of before)
    if (after.length > 0 && !after.some((entry) => entry.name === former.name))
      differences.found.push(`container ${former.name} removed`);
};

const compareAnnotations = (
  before: Record<string, string> = {},
  after: Record<string, string> = {},
  differences: Differences,
): void => {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (!restartOnly.has(key)) differences.compare(`annotation ${key}`, before[key], after[key]);
};

const templateMeta = (object: KubeObject): any =>
  (object.spec?.jobTemplate?.spec?.template ?? object.spec?.template)?.metadata ?? {};

const portsOf = (container: any): string =>
  (container.ports ?? []).map((port: any) => `${port.name ?? ''}:${port.containerPort}`).join(' ') || 'none';

const show = (value: unknown): string =>
  value === undefined || value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
