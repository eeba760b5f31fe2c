import { parse } from 'yaml';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';

/** Cluster Autoscaler's status ConfigMap, where it was read. */
export const statusMapOf = (facts: ClusterFacts): KubeObject | undefined =>
  facts.find('ConfigMap', 'cluster-autoscaler-status', 'kube-system');

/**
 * The autoscaler's status in the shape of its YAML: `clusterWide`, and `nodeGroups[]` with `health`, `scaleUp`,
 * `scaleDown`. Versions before 1.30 wrote the same as text, without the cloud's error. Undefined for anything else.
 */
export const statusOf = (map: KubeObject | undefined): any => {
  const text: string = map?.data?.status ?? '';
  if (/^Cluster-wide:/m.test(text)) return fromText(text);
  if (!/^(time|autoscalerStatus|clusterWide):/m.test(text)) return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
};

/** `Cluster-wide:` and `NodeGroups:` blocks of `clusterstate.go` up to 1.29, one block per `Name:`. */
const fromText = (text: string): any => {
  const [wide = '', groups = ''] = text.split(/^NodeGroups:\s*$/m);
  return {
    time: /status at (.+?):\s*$/m.exec(text)?.[1],
    clusterWide: blockOf(wide),
    nodeGroups: groups
      .split(/^\s*Name:\s+/m)
      .slice(1)
      .map((block) => ({ name: block.split(/\s/)[0] ?? '', ...blockOf(block) })),
  };
};

const blockOf = (block: string) => {
  const { status, rest, at } = entryOf(block, 'Health');
  const count = (name: string): number | undefined => {
    const value = new RegExp(`\\b${name}=(\\d+)`).exec(rest)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  const scaleUp = entryOf(block, 'ScaleUp');
  return {
    health: {
      status,
      lastTransitionTime: at,
      nodeCounts: {
        registered: { total: count('registered'), ready: count('ready'), unready: { total: count('unready') } },
        longUnregistered: count('longUnregistered'),
      },
      cloudProviderTarget: count('cloudProviderTarget'),
      minSize: count('minSize'),
      maxSize: count('maxSize'),
    },
    scaleUp: { status: scaleUp.status, lastTransitionTime: scaleUp.at },
  };
};

/** `Health:  Healthy (ready=3 …)`, and the transition time among the lines that follow it. */
const entryOf = (block: string, name: string): { status: string; rest: string; at?: string } => {
  const [, status = '', rest = '', after = ''] =
    new RegExp(`^\\s*${name}:\\s+(\\w+)[ \\t]*([^\\n]*)((?:\\n\\s*Last\\w+Time:[^\\n]*)*)`, 'm').exec(block) ?? [];
  return { status, rest, at: /LastTransitionTime:\s*(.+?)\s*$/m.exec(after)?.[1] };
};
