import { openSnapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { conformance } from './conformance.ts';

conformance('snapshot reader', async (dir, callTimeoutMs, use) => {
  await use((await openSnapshot(dir, { callTimeoutMs })).kubernetes);
});
