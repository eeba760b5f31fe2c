import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { capture } from '../../../src/cli/capture.ts';
import { alertTarget, readAlerts } from '../../../src/cli/target.ts';
import type { Verdict } from '../../../src/domain/verdict.ts';
import { connect } from '../../../src/evidence/kubernetes/connection.ts';
import { liveCluster } from '../../../src/evidence/kubernetes/live.ts';
import { openSnapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { writeFolder } from '../../../src/evidence/snapshot-writer/write.ts';
import { redact } from '../../../src/redaction/redact.ts';
import { loadRules } from '../../../src/rules/load.ts';
import { triage } from '../../../src/triage/triage.ts';
import { startKubernetesApi } from '../../fakes/kubernetes/server.ts';

const rules = await loadRules();

/** Who, why and how sure. Not the words: a probe's time is measured anew, and a case tells a 403 without its text. */
const judgement = ({ state, owner, boundary, rule, confidence }: Verdict) => ({
  state,
  owner,
  boundary,
  rule,
  confidence,
});

describe('the snapshot of a live cluster', () => {
  it.each(['catalog-api-restarts-every-hour', 'node-unreachable-pods-linger', 'pods-creating-in-closed-namespace'])(
    '%s is judged as the cluster itself is',
    async (id) => {
      const dir = join('test/cases', id);
      const out = await mkdtemp(join(tmpdir(), 'faultline-live-'));
      const api = await startKubernetesApi(dir);
      const connection = connect({ kubeconfig: api.kubeconfig });
      try {
        const { meta, now, metrics, cloud } = await openSnapshot(dir);
        const readers = () => ({ kubernetes: liveCluster(connection).reader(), metrics, cloud, now });
        const target = alertTarget(await readAlerts(join(dir, 'alert.json')), meta.cluster);
        const { verdict: live } = await triage(rules, redact(target), readers(), redact);
        await writeFolder(out, (await capture(id, target, readers())).files);
        const { verdict: copied } = await triage(rules, redact(target), await openSnapshot(out), redact);
        expect(live.rule).not.toBeNull();
        expect(judgement(copied)).toEqual(judgement(live));
      } finally {
        connection.close();
        await Promise.all([api.close(), rm(out, { recursive: true })]);
      }
    },
  );
});
