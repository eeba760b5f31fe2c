import type { Layer } from '../../domain/layer.ts';
import type { ClusterReaders } from '../ports.ts';

/** A triage's calls to the API server where nothing else is configured. */
export const defaultMaxApiCalls = 30;

/** What opening a cluster takes that no triage has opened yet: who it is, and what it serves. */
const openingCalls = 2;

/** The cloud layer: readyz, livez and leases; with a cloud reader also the objects that name what to ask it about. */
const cloudCalls = 3;
export const cloudQuestionCalls = 4;

/** Of what is left for the other two. */
const appShare = 0.52;

/**
 * Calls to the API server that a layer may make. Layers are read by separate jobs, maybe in separate processes, so each
 * has a fixed part of the triage's calls. Infinity for a recorded cluster.
 */
export const callsOf = (layer: Layer, { maxApiCalls, cloud }: ClusterReaders): number => {
  if (maxApiCalls === undefined) return Infinity;
  const all = maxApiCalls - openingCalls;
  const forCloud = Math.min(all, cloudCalls + (cloud ? cloudQuestionCalls : 0));
  const forApp = Math.ceil((all - forCloud) * appShare);
  return { cloud: forCloud, app: forApp, platform: all - forCloud - forApp }[layer];
};
