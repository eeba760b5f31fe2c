import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { nodeMisfits } from '../../facts/capacity/pools.ts';
import { amount, requestOf } from '../../facts/capacity/requests.ts';
import { hasRun, templateHistory } from '../../facts/capacity/templates.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { quantity } from '../../facts/quantity.ts';
import { rule } from '../../triage/rule.ts';
import { refusalEvidence, waitingChain } from '../waiting.ts';

const machines = /gpu|accelerator|inferentia|trainium|neuron|\b(p|g|inf|trn)\d/i;

export default rule({
  title:
    'Pods ask for a device (GPU or other extended resource) that no node offers: its plugin does not register it, or no such node exists',
  lookAlikes: ['devices that are all in use', 'a pool that makes such nodes and is refused'],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const resource = group.clauses
        .map((clause) => /^Insufficient (\S+\/\S+)$/.exec(clause.reason)?.[1])
        .find(Boolean);
      if (!resource || group.candidates.length > 0) return [];
      const nodes = facts.all('Node');
      if (nodes.some((node) => quantity(node.status?.allocatable?.[resource]) > 0)) return [];
      const meant = nodes.filter(
        (node) =>
          machines.test(JSON.stringify(node.metadata.labels ?? {})) &&
          nodeMisfits(facts, group.sample, node).length === 0,
      );
      const vendor = resource.split(/[./]/)[0] ?? '';
      const plugins = facts
        .all('Pod')
        .filter(
          (pod) =>
            pod.metadata.name.includes('device-plugin') ||
            (pod.metadata.name.includes(vendor) && facts.ownerOf(pod)?.kind === 'DaemonSet'),
        );
      const broken = plugins.filter((pod) => !isReady(pod));
      const history = templateHistory(facts, group.workload);
      const clusterSide = meant.length > 0 || broken.length > 0 || hasRun(group.workload, history.since);
      const owner = clusterSide ? ('platform' as const) : ownershipOf(facts, group.workload);
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: 'scheduling' as const,
          explains: ['pending' as const, 'rollout' as const, 'unknown-symptom' as const],
          owner,
          boundary: clusterSide ? ('node' as const) : ('scheduling' as const),
          strength: broken.length > 0 || meant.length > 0 ? ('direct' as const) : ('derived' as const),
          cause: text(
            `${nameOf(group.workload)} asks for ${amount(resource, requestOf(group.sample, resource))} ${resource}, and no node offers any${meant[0] ? `, although ${meant.length} nodes such as ${meant[0].metadata.name} should` : ''}${broken[0] ? `; device plugin ${nameOf(broken[0])} is not ready` : ''}.`,
          ),
          root: refOf(broken[0] ?? meant[0] ?? group.workload),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            ...meant.slice(0, 2).map((node) => evidence.field(node, 'status.allocatable')),
            ...broken.slice(0, 2).map((pod) => evidence.condition(pod, 'Ready')),
          ],
          chain: [
            ...broken.slice(0, 1).map((pod) => link(pod, 'does not register the device')),
            ...waitingChain(group),
          ],
          nextSteps: [
            text(
              clusterSide
                ? `Repair the device plugin for ${resource}: its DaemonSet’s selector, taints and driver on those nodes.`
                : `There is no node with ${resource}: ask the platform team for a pool of such nodes, or drop the request.`,
            ),
          ],
        },
      ];
    });
  },
});
