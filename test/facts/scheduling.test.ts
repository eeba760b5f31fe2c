import { describe, expect, test } from 'vitest';
import { parseKarpenterRefusal, parseSchedulerRefusal } from '../../src/facts/scheduling.ts';

describe('the scheduler’s refusal', () => {
  test('is split into counted reasons, without what preemption says', () => {
    const refusal = parseSchedulerRefusal(
      "0/9 nodes are available: 3 Insufficient cpu, 6 node(s) didn't match Pod's node affinity/selector. preemption: 0/9 nodes are available: 3 No preemption victims found for incoming pod, 6 Preemption is not helpful for scheduling.",
    );
    expect(refusal).toEqual({
      nodes: 9,
      clauses: [
        { count: 3, reason: 'Insufficient cpu' },
        { count: 6, reason: "node(s) didn't match Pod's node affinity/selector" },
      ],
    });
  });

  test('tells the taint where the version prints it, and lives without where it does not', () => {
    const old = parseSchedulerRefusal(
      '0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: gpu}. preemption: not eligible due to preemptionPolicy=Never.',
    );
    expect(old?.clauses).toEqual([
      { count: 2, reason: 'node(s) had untolerated taint {dedicated: gpu}', taint: 'dedicated' },
    ]);
    const recent = parseSchedulerRefusal(
      '0/2 nodes are available: 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    );
    expect(recent?.clauses).toEqual([{ count: 2, reason: 'node(s) had untolerated taint(s)' }]);
  });

  test('a PreFilter refusal is one clause over all nodes', () => {
    expect(
      parseSchedulerRefusal(
        '0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.',
      ),
    ).toEqual({
      nodes: 5,
      clauses: [{ count: 5, reason: 'pod has unbound immediate PersistentVolumeClaims' }],
    });
  });

  test('other messages are none', () => {
    expect(
      parseSchedulerRefusal('Failed to schedule pod, all available instance types exceed limits for nodepool: "x"'),
    ).toBeNull();
    expect(parseSchedulerRefusal('no nodes available to schedule pods')).toEqual({ nodes: 0, clauses: [] });
  });
});

describe('Karpenter’s refusal', () => {
  test('is split by pool, also where errors hold semicolons of their own', () => {
    const refusals = parseKarpenterRefusal(
      'Failed to schedule pod, incompatible with nodepool "a", daemonset overhead={"cpu":"180m"}, incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-1b] not in topology.kubernetes.io/zone In [eu-1a]; all available instance types exceed limits for nodepool (NodePool=b); incompatible with nodepool "c", daemonset overhead={"cpu":"180m"}, did not tolerate taint (taint=dedicated=gpu:NoSchedule)',
    );
    expect(refusals.map(({ pool, kind, key }) => [pool, kind, key])).toEqual([
      ['a', 'requirement', 'topology.kubernetes.io/zone'],
      ['b', 'limits', undefined],
      ['c', 'taint', undefined],
    ]);
  });

  test('every version’s wording of a full pool names it', () => {
    for (const tail of ['nodepool: "x"', 'nodepool "x"', 'nodepool (NodePool=x)'])
      expect(
        parseKarpenterRefusal(`Failed to schedule pod, all available instance types exceed limits for ${tail}`),
      ).toMatchObject([{ pool: 'x', kind: 'limits' }]);
  });

  test('labels nobody knows, offerings, sizes and topology are told apart', () => {
    const kindOf = (text: string) =>
      parseKarpenterRefusal(`Failed to schedule pod, incompatible with nodepool "p", daemonset overhead={}, ${text}`)[0]
        ?.kind;
    expect(kindOf('incompatible requirements, label "disk" does not have known values')).toBe('unknown-label');
    expect(kindOf('no instance type has the required offering, requirements=x')).toBe('offering');
    expect(kindOf('no instance type has enough resources, requirements=x')).toBe('resources');
    expect(
      kindOf('unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = a: 2'),
    ).toBe('topology');
  });
});
