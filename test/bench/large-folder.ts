import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Facts } from '../../src/domain/facts.ts';
import { enlarge } from './large-cluster.ts';

/** A case in a cluster of that size, as a folder; `use` has it for a while. */
export const withLargeFolder = async <T>(
  dir: string,
  { nodes, pods }: { nodes: number; pods: number },
  use: (dir: string) => Promise<T>,
): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'large-cluster-'));
  try {
    await cp(dir, folder, { recursive: true });
    const { objects } = enlarge({ objects: [] as unknown[] } as Facts, nodes, pods);
    await writeFile(join(folder, 'cluster', 'neighbours.json'), JSON.stringify({ kind: 'List', items: objects }));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};
