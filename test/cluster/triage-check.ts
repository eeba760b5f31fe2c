import { expect, it } from 'vitest';
import { loadRules } from '../../src/rules/load.ts';
import type { ClusterReaders } from '../../src/triage/ports.ts';
import { triage } from '../../src/triage/triage.ts';
import type { CrashedPod } from './reader-checks.ts';

/** What the crashing container says before it ends, so that a triage can know why. */
export const lastWords = ['starting', 'panic: DATABASE_URL is not set'];

/** A triage of a pod whose own log says what is wrong with it. */
export const triageCheck = (open: () => { readers: ClusterReaders; pod: CrashedPod }): void => {
  it('says whose incident a crash loop is, with the words of its log', async () => {
    const { readers, pod } = open();
    const cluster = { name: 'test', provider: 'self' as const };
    const subject = { cluster: 'test', kind: 'Pod', name: pod.name, namespace: pod.namespace };
    const { verdict, facts } = await triage(await loadRules(), { cluster, subjects: [subject], alerts: [] }, readers);
    const { state, owner } = verdict;
    expect({ state, owner }).toEqual({ state: 'fault', owner: 'app' });
    expect(verdict.evidence.map(({ text }) => text).join('\n')).toContain(lastWords[1]);
    expect(facts.flatMap(({ objects }) => objects).filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });
};
