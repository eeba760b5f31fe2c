import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExpectedAnswer } from '../../evidence/kubernetes/case-file.ts';
import { openSnapshot } from '../../evidence/kubernetes/snapshot.ts';

/** Eight kinds of incident, all three owners, a doubt and a non-fault among them; each in a cluster of its own. */
const chosen = [
  'node-count-doubled-a',
  'image-pulls-slow-and-nodes-gone',
  'orders-containers-creating',
  'catalog-api-restarts-every-hour',
  'hpa-does-not-react',
  'transcode-burst-instance-create-errors',
  'api-errors-short-burst',
  'pods-creating-in-closed-namespace',
];

const cases = fileURLToPath(new URL('../../../test/cases', import.meta.url));

export interface DemoIncident {
  id: string;
  dir: string;
  cluster: string;
  title: string;
  /** The webhook body, exactly as it will be posted. */
  body: string;
  expected: ExpectedAnswer;
}

export const demoIncidents = (): Promise<DemoIncident[]> =>
  Promise.all(
    chosen.map(async (id) => {
      const dir = join(cases, id);
      const { meta } = await openSnapshot(dir);
      if (!meta.expected) throw new Error(`${dir} has no answer to compare with`);
      const body = await readFile(join(dir, 'alert.json'), 'utf8');
      return { id, dir, cluster: meta.cluster.name, title: meta.title, body, expected: meta.expected };
    }),
  );
