import { expect, it } from 'vitest';
import type { KubernetesReader, Read } from '../../src/triage/ports.ts';
import { resources } from '../../src/triage/resources.ts';

/** A pod of a cluster that has restarted at least once, and has an event and a log. */
export interface CrashedPod {
  namespace: string;
  name: string;
  container: string;
  labelSelector: string;
}

const answerOf = <T>(read: Read<T>): T => {
  if (!read.ok) throw new Error(`a gap instead of an answer: ${read.gap.message} → ${read.gap.fix}`);
  return read.value;
};

const reasonOf = <T>(read: Read<T>): string => (read.ok ? 'answered' : read.gap.reason);

/** What the reader does against any cluster: the part of its conformance suite that needs no folder of a known content. */
export const readerChecks = (open: () => { reader: KubernetesReader; pod: CrashedPod }): void => {
  it('gets one object with its kind and apiVersion', async () => {
    const { reader, pod } = open();
    const read = await reader.get(resources.pods, pod.name, pod.namespace);
    const metadata = { name: pod.name, namespace: pod.namespace, uid: expect.any(String) };
    expect(answerOf(read)).toMatchObject({ apiVersion: 'v1', kind: 'Pod', metadata });
  });

  it.each(['no-such-pod', '..', 'a/exec'])('answers not-found for a pod named %s', async (name) => {
    const { reader, pod } = open();
    expect(reasonOf(await reader.get(resources.pods, name, pod.namespace))).toBe('not-found');
  });

  it('lists by namespace and label, each item with its kind', async () => {
    const { reader, pod } = open();
    const { namespace, labelSelector } = pod;
    const found = answerOf(await reader.list(resources.pods, { namespace, labelSelector, limit: 10 }));
    expect(found.map(({ kind, apiVersion, metadata }) => [apiVersion, kind, metadata.name])).toEqual([
      ['v1', 'Pod', pod.name],
    ]);
    const none = await reader.list(resources.pods, {
      namespace,
      labelSelector: `!${labelSelector.split('=')[0]}`,
      limit: 10,
    });
    expect(none).toEqual({ ok: true, value: [], complete: true });
  });

  it('lists the events of one object', async () => {
    const { reader, pod } = open();
    const fieldSelector = `involvedObject.name=${pod.name}`;
    const events = answerOf(
      await reader.list(resources.events, { namespace: pod.namespace, fieldSelector, limit: 50 }),
    );
    expect(events.length).toBeGreaterThan(0);
    expect(new Set(events.map((event) => event.involvedObject.name))).toEqual(new Set([pod.name]));
  });

  it('stops at the bound and says so', async () => {
    const { reader } = open();
    const read = await reader.list(resources.namespaces, { limit: 1 });
    expect({ complete: read.ok && read.complete, count: answerOf(read).length }).toEqual({ complete: false, count: 1 });
  });

  it('reads the last lines of a log, and the log before the last restart', async () => {
    const { reader, pod } = open();
    const { namespace, name, container } = pod;
    const before = answerOf(await reader.log(namespace, name, container, { previous: true, tailLines: 400 }));
    expect(before.trimEnd().split('\n').length).toBeGreaterThan(1);
    const last = answerOf(await reader.log(namespace, name, container, { previous: true, tailLines: 1 }));
    expect(last).toBe(`${before.trimEnd().split('\n').at(-1)}\n`);
    const none = await reader.log(namespace, name, 'no-such-container', { previous: false, tailLines: 1 });
    expect(reasonOf(none)).toBe('not-found');
  });

  it('asks the server how it is', async () => {
    const { reader } = open();
    const { status, body, latencyMs } = answerOf(await reader.probe('readyz'));
    expect({ status, isTold: body.length > 0, isTimed: latencyMs >= 0 }).toEqual({
      status: 200,
      isTold: true,
      isTimed: true,
    });
  });

  it.each(Object.entries(resources))('reads %s, or names the permission to grant', async (_, resource) => {
    const { reader } = open();
    const read = await reader.list(resource, { limit: 3 });
    if (read.ok) expect(read.value.filter(({ kind }) => kind !== resource.kind)).toEqual([]);
    else expect(read.gap).toMatchObject({ reason: 'forbidden', fix: expect.stringContaining('grant `list ') });
  });

  it('is never asked for a Secret', async () => {
    const { reader, pod } = open();
    const secrets = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
    await expect(reader.list(secrets, { namespace: pod.namespace, limit: 1 })).rejects.toThrow(
      'Secrets are never read',
    );
  });
};
