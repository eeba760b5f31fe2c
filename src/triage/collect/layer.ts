import type { LayerFacts } from '../../domain/facts.ts';
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

/** Reads one layer's sources, and no others, around the subject. Never rejects: what fails becomes a gap. */
export const collectLayer = async (
  layer: Layer,
  target: CollectionTarget,
  readers: ClusterReaders,
): Promise<LayerFacts> => {
  const collection = new Collection(layer, target, readers);
  await collectors[layer](collection);
  return collection.facts;
};
