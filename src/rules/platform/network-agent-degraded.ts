import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { isReady } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const agent =
  /^(calico-node|cilium(-\w{5})?$|kube-flannel|canal|weave-net|antrea-agent|kube-router|ovnkube-node|multus)/;
/** What these agents say of routes and peers they have lost. */
const lost =
  /BGP not established|Bad peer AS|Received: (Bad|Hold timer)|route[^\n]*(missing|removed|reinstall)|removing foreign rout|network is down|no such device|BIRD is not ready|Felix is not (live|ready)|peering established = 0/i;

export default rule({
  title: 'The network agent of some nodes has lost its routes or peers: pods there cannot be reached',
  lookAlikes: ['agents unready on nodes that are silent: the nodes', 'agents unready everywhere at their own rollout'],
  judge(facts, scope) {
    const agents = facts.all('Pod').filter((pod) => agent.test(pod.metadata.name) && pod.spec?.nodeName);
    const sick = agents.filter(
      (pod) => !isReady(pod) && !isNotReady(facts.nodeOf(pod) ?? pod) && settled(facts, pod.status?.startTime),
    );
    if (sick.length === 0) return [];
    const nodes = new Set(sick.map((pod) => pod.spec?.nodeName as string));
    const events = sick
      .flatMap((pod) => facts.eventsAbout(pod, 'Unhealthy'))
      .filter((event) => minutesBetween(event.lastAt, facts.now) < 30 && lost.test(event.message));
    const lines = linesLike(facts, lost, (log) => nodes.has(facts.find('Pod', log.pod, log.namespace)?.spec?.nodeName));
    if (events.length + lines.length === 0) return [];
    const evidence = cite('platform', facts);
    const owner = facts.workloadOf(sick[0]!);
    const victims = scope.pods.filter((pod) => nodes.has(pod.spec?.nodeName));
    const said = [
      ...new Map(lines.map((entry) => [`${entry.log.pod}${entry.line.replace(/\d/g, '')}`, entry])).values(),
    ];
    return [
      {
        mechanism: 'network' as const,
        explains: [
          'probe' as const,
          'dependency' as const,
          'dns' as const,
          'application-error' as const,
          'crash' as const,
          'rollout' as const,
          'webhook' as const,
          'unknown-symptom' as const,
        ],
        owner: 'platform' as const,
        boundary: 'network' as const,
        strength: 'derived' as const,
        cause: text(
          `The network agent has lost its routes or peers on ${nodes.size} of ${facts.all('Node').length} nodes (${[...nodes].slice(0, 4).join(', ')}): “${(said[0]?.line ?? events[0]!.message).replace(/\s+/g, ' ').slice(-160)}”.`,
        ),
        root: refOf(owner),
        affects: scope.wide ? ('cluster' as const) : [owner, ...sick, ...victims].map(refOf),
        onset: earliest(...events.map((event) => event.firstAt)),
        evidence: [
          ...said.slice(0, 6).map((entry) => evidence.log(entry.log, entry.line)),
          ...events.slice(0, 2).map((event) => evidence.event(event)),
          ...sick.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
        ],
        chain: [
          link(owner, 'agents unready where routes are lost'),
          ...sick.slice(0, 3).map((pod) => link(pod, `on ${pod.spec?.nodeName}`)),
        ],
        nextSteps: [
          text(
            `Look at what changed on these nodes and at the agent's peers: kubectl logs -n ${sick[0]!.metadata.namespace} ${sick[0]!.metadata.name}`,
          ),
          text(`${nameOf(owner)}: restart the agent on one of them and see whether its routes come back.`),
        ],
      },
    ];
  },
});

const startMinutes = 3;
const settled = (facts: ClusterFacts, startedAt: string | undefined): boolean =>
  !(minutesBetween(startedAt, facts.now) < startMinutes);
