import type { KubeObject } from '../../domain/kubernetes.ts';
import { readableObject } from './bounded.ts';
import { readDocuments } from './snapshot-files.ts';

/** All objects of the files, sorted as the API server lists them. Secrets never get past this point. */
export async function loadObjects(paths: string[]): Promise<KubeObject[]> {
  const byIdentity = new Map<string, KubeObject>();
  for (const path of paths) {
    for (const document of await readDocuments(path)) {
      for (const object of objectsOf(document)) {
        // A dump may hold the same object in several files.
        byIdentity.set(identity(object), object);
      }
    }
  }
  return [...byIdentity.values()].sort((a, b) => compare(storageKey(a), storageKey(b)));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const storageKey = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
export const groupOf = (object: KubeObject): string => {
  const [group = ''] = (object.apiVersion ?? '').split('/');
  return (object.apiVersion ?? '').includes('/') ? group : '';
};
const identity = (object: KubeObject): string => [groupOf(object), object.kind, storageKey(object)].join(' ');

/** Lists within lists: a dump has one or two. */
const maxListDepth = 8;

/** Objects of a List, a typed list (`PodList`), a single object or an array of those; anything else holds none. */
function objectsOf(document: unknown, depth = 0): KubeObject[] {
  if (depth > maxListDepth) return [];
  if (Array.isArray(document)) return document.flatMap((item) => objectsOf(item, depth + 1));
  if (!isRecord(document) || typeof document.kind !== 'string') return [];
  const { kind, apiVersion, items } = document;
  if (Array.isArray(items)) {
    // In a typed list the items leave out what the list's kind already says.
    const itemKind = (kind as string) === 'List' ? undefined : (kind as string).replace(/List$/, '');
    return items.flatMap((item) =>
      objectsOf(isRecord(item) && itemKind ? { apiVersion, kind: itemKind, ...item } : item, depth + 1),
    );
  }
  if (kind === 'Secret') return [];
  const object = readableObject(document);
  return object ? [inCoreShape(object)] : [];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An events.k8s.io Event as the core API serves the very same object. */
function inCoreShape(object: KubeObject): KubeObject {
  if (object.kind !== 'Event' || groupOf(object) !== 'events.k8s.io') return object;
  const {
    regarding,
    note,
    deprecatedSource,
    deprecatedCount,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    ...rest
  } = object;
  return {
    ...rest,
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: regarding ?? {},
    message: note ?? '',
    source: deprecatedSource ?? {},
    reportingComponent: object.reportingController ?? '',
    ...(deprecatedCount === undefined ? {} : { count: deprecatedCount }),
    ...(deprecatedFirstTimestamp === undefined ? {} : { firstTimestamp: deprecatedFirstTimestamp }),
    ...(deprecatedLastTimestamp === undefined ? {} : { lastTimestamp: deprecatedLastTimestamp }),
  };
}
