import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alertTarget } from '../../src/cli/target.ts';
import type { AlertGroup } from '../../src/domain/alert.ts';
import type { Facts } from '../../src/domain/facts.ts';
import { layers } from '../../src/domain/layer.ts';
import { text } from '../../src/domain/text.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { unite } from '../../src/triage/collect/collection.ts';
import { collectLayer } from '../../src/triage/collect/layer.ts';

/** What a triage of a case of test/cases has read: real objects with their real relations. */
export const caseFacts = async (name: string): Promise<Facts> => {
  const dir = join('test/cases', name);
  const snapshot = await openSnapshot(dir);
  const { alerts } = JSON.parse(readFileSync(join(dir, 'alert.json'), 'utf8')) as AlertGroup;
  const target = alertTarget(alerts, snapshot.meta.cluster);
  const batches = await Promise.all(layers.map((layer) => collectLayer(layer, target, snapshot)));
  return unite(batches, target, snapshot.meta.capturedAt);
};

/** A verdict as attribution would give it; only what a test is about is written down there. */
export const verdictOf = (overrides: Partial<Verdict>): Verdict => ({
  state: 'fault',
  owner: 'app',
  boundary: 'application',
  confidence: 'high',
  cause: text('the container exceeds its memory limit'),
  rule: null,
  contributing: [],
  evidence: [],
  chain: [],
  layers: [],
  missing: [],
  nextSteps: [],
  cannotShow: [],
  wouldChange: [],
  impact: '',
  onset: null,
  deadline: null,
  ruleSet: 'test',
  ...overrides,
});
