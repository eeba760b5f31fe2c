import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** The controller may not open the way for the balancer's checkers, and asks a human to. */
const firewall = /firewall change required|security group[^\n]*(health check|rule)[^\n]*(required|denied|not authori)/i;
/** Checkers by the names they give themselves, answered with anything but a success. */
const checker =
  /GoogleHC|ELB-HealthChecker|Edge Health Probe|Load Balancer Agent|SLBHealthCheck|Amazon-Route53-Health/i;
const refused = /\b(30[1278]|40[0134]|405|50[0-4])\b/;

export default rule({
  title:
    'The load balancer’s health check does not pass although the pods are ready: the way is closed, or it asks the wrong path',
  lookAlikes: [
    'pods that are not ready either: the application',
    'a balancer that the controller could not make at all',
  ],
  judge(facts, scope) {
    const ready = scope.pods.filter((pod) => !scope.troubledPods.includes(pod));
    if (ready.length === 0 || scope.troubledPods.length * 2 > scope.pods.length || scope.wide) return [];
    const closed = facts.events.filter(
      (event) =>
        ['Ingress', 'Service', 'Gateway'].includes(event.regarding.kind) &&
        scope.namespaces.includes(event.regarding.namespace ?? '') &&
        firewall.test(event.message) &&
        minutesBetween(event.lastAt, facts.now) < 90,
    );
    const objects = closed.map((event) => event.regarding);
    const answers = grep(facts, ready, checker).filter(
      (line) => refused.test(line.text) && !(minutesBetween(line.at, facts.now) > 30),
    );
    const findings: FindingDraft[] = [];
    if (closed.length > 0) {
      const evidence = cite('platform', facts);
      const ingress = facts.resolve(objects[0]!);
      const backends = Object.keys(ingress?.metadata.annotations ?? {}).find((key) =>
        /ingress\.kubernetes\.io\/backends/.test(key),
      );
      findings.push({
        mechanism: 'network',
        explains: ['unknown-symptom', 'application-error', 'traffic', 'rollout'],
        owner: 'platform',
        boundary: 'network',
        strength: 'direct',
        cause: text(
          `The load balancer's health checkers may not reach the backends of ${objects[0]!.kind} ${objects[0]!.namespace}/${objects[0]!.name}: a firewall rule of the network is missing, which its controller may not make itself.`,
        ),
        root: objects[0]!,
        affects: [...objects, ...scope.workloads.map(refOf), ...scope.pods.map(refOf)],
        onset: earliest(...closed.map((event) => event.firstAt)),
        evidence: [
          ...closed.slice(0, 2).map((event) => evidence.event(event)),
          ...(ingress && backends
            ? [
                evidence.field(
                  ingress,
                  'metadata.annotations',
                  `${backends}: ${ingress.metadata.annotations?.[backends]}`,
                ),
              ]
            : []),
        ],
        chain: [
          {
            object: `${objects[0]!.kind} ${objects[0]!.namespace}/${objects[0]!.name}`,
            claim: 'its checkers are not let through',
          },
          ...ready.slice(0, 2).map((pod) => link(pod, 'is ready and gets no traffic')),
        ],
        nextSteps: [text('Make the firewall rule that the event spells out, in the project that holds the network.')],
      });
    }
    for (const workload of scope.workloads) {
      const own = answers.filter((line) => facts.podsOf(workload).some((pod) => pod.metadata.name === line.log.pod));
      if (own.length === 0) continue;
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      const rollout = rolloutOf(facts, workload);
      findings.push({
        mechanism: 'probe',
        explains: ['unknown-symptom', 'application-error', 'traffic', 'rollout'],
        owner,
        boundary: 'probe',
        strength: 'derived',
        cause: text(
          `The load balancer asks ${nameOf(workload)} for a path that it does not answer with success (“${own.at(-1)!.text.slice(-120)}”), while its own probes pass.`,
        ),
        root: refOf(workload),
        affects: [workload, ...facts.podsOf(workload)].map(refOf),
        onset: rollout?.at,
        evidence: [
          ...own.slice(-2).map((line) => evidence.log(line.log, line.text)),
          ...(rollout ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at)] : []),
        ],
        chain: [link(workload, 'answers the balancer’s check with an error')],
        contributing: [],
        nextSteps: [
          text(
            'Make the balancer’s health check (BackendConfig, annotation or HealthCheckPolicy) ask the path that the probe asks.',
          ),
        ],
      });
    }
    return findings;
  },
});
