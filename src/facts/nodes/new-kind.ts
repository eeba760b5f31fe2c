import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { earliest, minutesBetween } from '../time.ts';
import { rolloutOf } from '../workloads/workloads.ts';
import { softwareOf } from './nodes.ts';

/** What an image has to be built for: system, architecture and, on Windows, the build that containers must match. */
export const imagePlatformOf = (node: KubeObject | undefined): string => {
  const { labels = {} } = node?.metadata ?? {};
  const info = node?.status?.nodeInfo ?? {};
  const arch = labels['kubernetes.io/arch'] ?? info.architecture ?? '';
  const system = labels['kubernetes.io/os'] ?? info.operatingSystem ?? 'linux';
  if (system !== 'windows') return arch;
  const build = labels['node.kubernetes.io/windows-build'] ?? /10\.0\.\d+/.exec(softwareOf(node!).kernel)?.[0] ?? '';
  return `windows ${arch} ${build}`.trim();
};

/** A template this much older than the nodes it fails on ran well before they came. */
const settledMinutes = 24 * 60;

export interface NewKind {
  platform: string;
  /** When the first node of this kind came, ISO 8601. */
  arrived: string;
  /** When the template came into use, ISO 8601. */
  since: string;
}

/** The kind of node that a settled template meets for the first time: not the template changed, the nodes did. */
export const newKindFor = (
  facts: ClusterFacts,
  workload: KubeObject,
  node: KubeObject | undefined,
): NewKind | undefined => {
  const platform = imagePlatformOf(node);
  const since = rolloutOf(facts, workload)?.at ?? workload.metadata.creationTimestamp;
  const arrived = earliest(
    ...facts
      .all('Node')
      .filter((entry) => imagePlatformOf(entry) === platform)
      .map((entry) => entry.metadata.creationTimestamp),
  );
  return platform && since && arrived && minutesBetween(since, arrived) > settledMinutes
    ? { platform, arrived, since }
    : undefined;
};
