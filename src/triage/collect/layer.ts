import type { ClusterIdentity, FactSource, Gap, LayerFacts } from '../../domain/facts.ts';
import type { Layer } from '../../domain/layer.ts';
import type { ClusterReaders } from '../ports.ts';
import { collectApp } from './app.ts';
import { collectCloud } from './cloud.ts';
import { Collection, type CollectionTarget } from './collection.ts';
import { collectPlatform } from './platform.ts';

const collectors: Record<Layer, (collection: Collection) => Promise<void>> = {
  cloud: collectCloud,
  platform: collectPlatform,
  app: collectApp,
};

/** Facts of a layer whose cluster could not be read at all: one gap that every source of the layer shares. */
export const unreadLayer = (layer: Layer, cluster: ClusterIdentity, readAt: string, gap: Gap): LayerFacts => ({
  layer,
  cluster,
  readAt,
  objects: [],
  logs: [],
  series: [],
  cloudWatch: [],
  cloud: [],
  probes: [],
  reads: layerSources[layer].map(([source, what]) => ({ source, what, gap, complete: false, count: 0 })),
  apiCalls: 0,
});

const layerSources: Record<Layer, [FactSource, string][]> = {
  cloud: [
    ['probe', 'readyz'],
    ['kubernetes', 'leases'],
    ['aws', 'ec2.describeInstanceStatus'],
  ],
  platform: [
    ['kubernetes', 'nodes'],
    ['kubernetes', 'nodepools'],
    ['kubernetes', 'nodeclaims'],
  ],
  app: [
    ['kubernetes', 'pods'],
    ['kubernetes', 'events'],
    ['kubernetes', 'replicasets'],
  ],
};

/**
 * Reads one layer's sources, and no others, around the subject. Never rejects: what fails becomes a gap, and what has
 * not answered when the time is up is left out.
 */
export const collectLayer = async (
  layer: Layer,
  target: CollectionTarget,
  readers: ClusterReaders,
  timeoutMs = 60_000,
): Promise<LayerFacts> => {
  const collection = new Collection(layer, target, readers);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<Gap>((resolve) => {
    timer = setTimeout(() => resolve(tooLate(layer, timeoutMs)), timeoutMs);
  });
  const gap = await Promise.race([collectors[layer](collection).then(() => null, broken(layer)), deadline]);
  clearTimeout(timer);
  if (!gap) return collection.facts;
  const read = new Set(collection.facts.reads.map((entry) => entry.what));
  const missing = layerSources[layer].filter(([, what]) => !read.has(what));
  return {
    ...structuredClone(collection.facts),
    reads: [
      ...collection.facts.reads,
      ...missing.map(([source, what]) => ({ source, what, gap, complete: false, count: 0 })),
    ],
  };
};

const tooLate = (layer: Layer, timeoutMs: number): Gap => ({
  reason: 'timeout',
  message: `the ${layer} layer was not read within ${timeoutMs} ms`,
  fix: 'raise triage.layerTimeoutMs, or see why the cluster answers slowly',
});

const broken =
  (layer: Layer) =>
  (error: Error): Gap => ({
    reason: 'failed',
    message: `reading the ${layer} layer broke off: ${error.message}`,
    fix: 'report it with a snapshot of the cluster (faultline snapshot)',
  });
