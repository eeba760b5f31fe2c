import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { vendorOf } from '../../facts/provider.ts';
import { earliest } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Reasons of the route controller and of the allocator of pod ranges, which write on the node. */
const routeReason = /^(FailedToCreateRoute|CIDRNotAvailable|CIDRAssignmentFailed)$/;
const serviceError = /InternalError|InternalServerError|ServiceUnavailable|backendError|\b50[023]\b/;

export default rule({
  title:
    'Nodes have no route or no range for their pods: the cloud refuses the route, its table is full, or the pod range is used up',
  lookAlikes: [
    'a network agent that has not started: NetworkUnavailable for its own reason',
    'routes that somebody deleted: the trail says so',
    'subnets without addresses for pods: another network model',
  ],
  judge(facts) {
    const ill = facts.all('Node').flatMap((node) => {
      const network = condition(node, 'NetworkUnavailable');
      const event = facts.eventsAbout(node).findLast((entry) => routeReason.test(entry.reason));
      const without = isTrue(node, 'NetworkUnavailable') && network?.reason === 'NoRouteCreated';
      const unranged = event?.reason.startsWith('CIDR') && !node.spec?.podCIDR;
      return without || unranged ? [{ node, event, unranged: Boolean(unranged) }] : [];
    });
    if (ill.length === 0) return [];
    const nodes: KubeObject[] = ill.map(({ node }) => node);
    const said = ill.map(({ event }) => event).findLast((event) => event !== undefined);
    const unranged = ill.some((entry) => entry.unranged);
    const vendor = !unranged && serviceError.test(said?.message ?? '');
    const owner = vendor ? 'cloud' : 'platform';
    const evidence = cite(owner, facts);
    const why = unranged
      ? 'the range of the cluster for pods has none left to give'
      : vendor
        ? `${vendorOf(facts)} answers the request for a route with an error of its own`
        : said
          ? 'the cloud refuses the route'
          : 'the route controller has not made the route';
    const finding: FindingDraft = {
      mechanism: unranged ? 'address-exhaustion' : 'network',
      explains: [
        'node-not-initialized',
        'sandbox-network',
        'pending',
        'scheduling',
        'dns',
        'probe',
        'dependency',
        'rollout',
        'unknown-symptom',
      ],
      owner,
      boundary: 'network',
      strength: said ? 'direct' : 'derived',
      cause: text(
        `${nodes.length} nodes (${names(nodes)}) cannot carry pods because ${why}${said ? `: “${said.message.slice(0, 200)}”` : ''}.`,
      ),
      root: refOf(nodes[0]!),
      affects: [
        ...harmedBy(facts, nodes),
        ...facts
          .all('Pod')
          .filter((pod) => isWaiting(pod))
          .map(refOf),
      ],
      onset: earliest(said?.firstAt, ...nodes.map((node) => condition(node, 'NetworkUnavailable')?.lastTransitionTime)),
      evidence: [
        ...(said ? [evidence.event(said)] : []),
        ...nodes.slice(0, 3).map((node) => evidence.condition(node, 'NetworkUnavailable')),
        ...nodes.slice(0, 1).map((node) => evidence.field(node, 'spec.podCIDR')),
      ],
      chain: nodes.slice(0, 3).map((node) => link(node, unranged ? 'no range for pods' : 'no route')),
      nextSteps: [
        text(
          unranged
            ? 'Remove nodes that are not needed, or give the cluster another range for pods: the size per node (--node-cidr-mask-size) cannot be changed for living nodes.'
            : 'Compare the route table with the nodes: it holds a limited number of routes; look at the rights and the log of the cloud controller manager.',
        ),
      ],
    };
    return [finding];
  },
});

const isWaiting = (pod: KubeObject): boolean => pod.status?.phase === 'Pending' && !pod.spec?.nodeName;
