import { describe, expect, it } from 'vitest';
import type { Gap, ReadRecord } from '../../../src/domain/facts.ts';
import { gapForFailure, gapForStatus, gapForTimeout } from '../../../src/evidence/kubernetes/gaps.ts';
import { apiserverOf, collectedKinds } from '../../../src/evidence/snapshot-writer/apiserver.ts';
import { resources } from '../../../src/triage/resources.ts';

const read = (what: string, gap?: Gap, source: ReadRecord['source'] = 'kubernetes'): ReadRecord => ({
  source,
  what,
  complete: !gap,
  count: gap ? 0 : 1,
  ...(gap && { gap }),
});
const events = { verb: 'list', resource: resources.events, namespace: 'shop' } as const;
const leases = { verb: 'list', resource: resources.leases } as const;
const pools = { verb: 'list', resource: resources.nodepools } as const;

describe('what the API server answered', () => {
  it('a resource that was denied, and one that failed with the machine’s words', () => {
    const { apiserver, untold } = apiserverOf(
      [
        read('pods'),
        read('nodepools', gapForStatus(403, 'Forbidden', pools)),
        read('events', gapForStatus(500, 'etcdserver: request timed out', events)),
        read('leases', gapForFailure('socket hang up', leases)),
      ],
      [{ path: 'readyz', status: 500, body: '[-]etcd failed', latencyMs: 41 }],
    );
    expect(apiserver).toMatchObject({
      readyz: { status: 500, body: '[-]etcd failed' },
      latency_ms: 41,
      deny: ['nodepools.karpenter.sh'],
      fail: [
        { resource: 'events', status: 500, message: 'etcdserver: request timed out' },
        { resource: 'leases.coordination.k8s.io', status: 503, message: expect.stringContaining('socket hang up') },
      ],
    });
    expect(untold).toEqual([]);
  });

  it('one that came too late comes too late for a more patient reader too', () => {
    const { apiserver } = apiserverOf([read('pods'), read('leases', gapForTimeout(10_000, leases))], []);
    expect(apiserver.fail).toMatchObject([{ status: 504, latency_ms: 30_001 }]);
    expect(apiserver.latency_ms).toBe(0);
  });

  it('a server that never answered', () => {
    const late = gapForTimeout(10_000, leases);
    const { apiserver, untold } = apiserverOf([read('leases', late), read('readyz', late, 'probe')], []);
    expect({ latency: apiserver.latency_ms, untold }).toEqual({ latency: 30_001, untold: [] });
  });

  it('keeps what one namespace answered, and says what another refused', () => {
    const { apiserver, untold } = apiserverOf(
      [
        read('events'),
        read('events', gapForStatus(403, 'Forbidden', events)),
        read('shop/web-0/app', undefined, 'log'),
        read('shop/web-1/app', gapForStatus(502, 'dial tcp: timeout', events), 'log'),
        read('readyz', gapForStatus(403, 'Forbidden', { verb: 'get', path: 'readyz' }), 'probe'),
      ],
      [],
    );
    expect(apiserver).toMatchObject({ deny: [], fail: [] });
    expect(untold).toEqual([
      expect.stringContaining('events: 1 of 2 reads'),
      expect.stringContaining('pods/log: 1 of 2 reads'),
      expect.stringContaining('cannot get /readyz'),
    ]);
  });

  it('container logs that none may read', () => {
    const gap = gapForStatus(403, 'Forbidden', events);
    expect(apiserverOf([read('pods'), read('shop/web-0/app', gap, 'log')], []).apiserver.deny).toEqual(['pods/log']);
  });
});

describe('the kinds that were collected', () => {
  it('are those that answered, with or without objects', () => {
    const none = { ...read('nodepools'), count: 0 };
    const denied = read('leases', gapForStatus(403, 'Forbidden', leases));
    expect(collectedKinds([read('pods'), none, denied])).toEqual(['ConfigMap', 'NodePool', 'Pod']);
  });

  it('are none where nothing answered', () => {
    expect(collectedKinds([read('leases', gapForTimeout(10_000, leases))])).toEqual([]);
  });

  it('have one plural each, which names their file', () => {
    const plurals = Object.values(resources).map(({ plural }) => plural);
    expect(new Set(plurals).size).toBe(plurals.length);
  });
});
