import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { redact } from '../../src/redaction/redact.ts';
import { loadRules } from '../../src/rules/load.ts';
import { triage } from '../../src/triage/triage.ts';
import { type CaseFiles, casesFolder, readCase, withObjects, writeCase } from '../metamorphic/case-files.ts';

const lineChars = 100_000;
/** A pattern that looks at a line once per character needs minutes for these; one that does so once needs none. */
const patienceMs = 10_000;

const ids = (await readdir(casesFolder)).sort();
const ruleSet = await loadRules();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-lines-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every text that a machine or a person wrote ends in a line of this shape. */
const flooded = (files: CaseFiles, line: string): CaseFiles => {
  const said = (text: unknown): string => `${text ?? ''} ${line}`;
  const changed = withObjects(files, (items) =>
    items.map((item) => ({
      ...item,
      ...(item.kind === 'Event' && { message: said(item.message) }),
      ...(item.status?.conditions && {
        status: {
          ...item.status,
          conditions: item.status.conditions.map((one: any) => ({ ...one, message: said(one.message) })),
        },
      }),
    })),
  );
  for (const [path, text] of changed)
    if (path.startsWith('logs/')) changed.set(path, `${text}\n${line}\n${said('error')}\n`);
  const alert = JSON.parse(changed.get('alert.json')!);
  for (const one of alert.alerts)
    one.annotations = { ...one.annotations, description: said(one.annotations?.description) };
  return changed.set('alert.json', JSON.stringify(alert));
};

const shapes = [
  ...['-', '.', ' ', ':', '/', '"', '\\', '{', '=', '\t', '0', '@'],
  ...['a-', 'a.', 'a ', 'a:', 'a/', 'a=', '1.', '"a" ', 'Error: ', 'AccessDenied ', 'desc = '],
];

test.each(shapes.map((shape, index) => [shape, ids[(index * 17) % ids.length]!] as const))(
  'lines of 100,000 characters made of %j cost no more than their reading, in %s',
  async (shape, id) => {
    const dir = join(folder, Buffer.from(shape).toString('hex'));
    await writeCase(dir, flooded(await readCase(id), shape.repeat(lineChars / shape.length)));
    const started = performance.now();
    const snapshot = await openSnapshot(dir);
    const target = redact(alertTarget(await readAlerts(join(dir, 'alert.json')), snapshot.meta.cluster));
    const { judgement } = await triage(ruleSet, target, snapshot, redact);
    expect(judgement.broken).toEqual([]);
    expect(performance.now() - started).toBeLessThan(patienceMs);
  },
);
