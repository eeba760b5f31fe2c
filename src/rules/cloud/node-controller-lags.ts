import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { isSilent, leaseAgeMinutes, leaseOf, readiness } from '../../facts/nodes/nodes.ts';
import { controlPlaneOwner, isManaged, vendorOf } from '../../facts/provider.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A lease is renewed every 10 s and counts for 40 s. */
const freshMinutes = 40 / 60;
/** A node that has just come back is marked Ready again within a minute. */
const settledMinutes = 2;
/** A leader changes a few times in the life of a cluster. */
const manyTransitions = 20;

export default rule({
  title: 'Nodes are marked Unknown although each of them renews its lease: the node controller judges by stale data',
  lookAlikes: ['leases are stale too: the nodes, or their way to the API server', 'one node that has just come back'],
  judge(facts, scope) {
    const marked = facts
      .all('Node')
      .filter(
        (node) => isSilent(node) && minutesBetween(readiness(node)?.lastTransitionTime, facts.now) > settledMinutes,
      );
    const alive = marked.filter((node) => leaseAgeMinutes(facts, leaseOf(facts, node)) < freshMinutes);
    const stale = marked.length - alive.length;
    const touched = scope.wide || alive.some((node) => scope.nodes.includes(node) || scope.subjectNodes.includes(node));
    if (alive.length < 2 || stale > alive.length || !touched) return [];
    const owner = controlPlaneOwner(facts);
    const evidence = cite(owner, facts);
    const leader = facts.find('Lease', 'kube-controller-manager', 'kube-system');
    const restless = (leader?.spec?.leaseTransitions ?? 0) >= manyTransitions;
    const youngest = Math.max(...alive.map((node) => leaseAgeMinutes(facts, leaseOf(facts, node))));
    return [
      {
        mechanism: 'control-plane',
        explains: [
          'node-silent',
          'eviction',
          'probe',
          'unknown-symptom',
          'zone-outage',
          'volume',
          'pending',
          'node-removed',
          'node-image',
        ],
        owner,
        boundary: 'control-plane',
        strength: 'derived',
        cause: text(
          `${alive.length} nodes (${names(alive)}) are marked Unknown although each renewed its lease within ${duration(youngest)}: the node controller${isManaged(facts) ? `, which ${vendorOf(facts)} runs,` : ''} judges by stale data${restless ? ` (${leader!.spec.leaseTransitions} changes of its leader)` : ''}.`,
        ),
        root: leader ? refOf(leader) : { kind: 'Lease', name: 'kube-controller-manager', namespace: 'kube-system' },
        affects: harmedBy(facts, alive),
        onset: earliest(...alive.map((node) => readiness(node)?.lastTransitionTime)),
        evidence: [
          ...alive
            .slice(0, 3)
            .flatMap((node) => [
              evidence.condition(node, 'Ready'),
              evidence.field(leaseOf(facts, node)!, 'spec.renewTime'),
            ]),
          ...(leader
            ? [evidence.field(leader, 'spec.leaseTransitions'), evidence.field(leader, 'spec.renewTime')]
            : []),
        ],
        chain: [
          { object: 'kube-controller-manager', claim: 'node controller lags' },
          ...alive.slice(0, 2).map((node) => link(node, 'renews its lease and is marked Unknown')),
        ],
        nextSteps: [
          text(
            isManaged(facts)
              ? `Open a case with ${vendorOf(facts)}: node lifecycle controller of ${facts.identity.name} marks nodes Unknown whose leases are fresh.`
              : 'kubectl -n kube-system logs -l component=kube-controller-manager --tail=200; check its way to the API server and etcd latency.',
          ),
          text('Do not replace the nodes: kubectl get leases -n kube-node-lease shows that they live.'),
        ],
      },
    ];
  },
});
