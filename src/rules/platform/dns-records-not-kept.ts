import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { rule } from '../../triage/rule.ts';

const nameless = /no such host|does not resolve|NXDOMAIN|no address record|could not resolve|resolution/i;

export default rule({
  title: 'A public host has no record because what writes the records is down, or has deleted it',
  lookAlikes: [
    'the Ingress or its host is gone: whoever removed it',
    'the host resolves and does not answer: not the records',
  ],
  judge(facts, scope) {
    const words = facts.alerts.map((alert) => JSON.stringify([alert.labels, alert.annotations])).join('\n');
    if (!nameless.test(words)) return [];
    const hosts = [...new Set(words.match(/(?<![a-z0-9-])[a-z0-9-]+(\.[a-z0-9-]+){2,}\b/g) ?? [])].filter(
      (host) => !/^[\d.]+$/.test(host),
    );
    const writers = facts.all('Pod').filter((pod) => /^external-dns/.test(pod.metadata.name));
    const deleted = linesLike(facts, /DELETE|Removing RR|Del(eting)? record/i, (log) =>
      /^external-dns/.test(log.pod),
    ).filter(({ line }) => hosts.some((host) => line.includes(`${host} `) || line.includes(`${host}"`)));
    const sick = writers.filter((pod) => !isReady(pod));
    const down = writers.length > 0 && sick.length === writers.length;
    if (deleted.length === 0 && !down) return [];
    const removed = deleted.length > 0 && !isServed(facts, hosts);
    const writer = facts.workloadOf(sick[0] ?? writers[0]!);
    const evidence = cite('platform', facts);
    const event = sick
      .flatMap((pod) => facts.eventsAbout(pod))
      .find((entry) => entry.type === 'Warning' && entry.message.length > 40);
    return [
      {
        mechanism: 'dns' as const,
        explains: ['unknown-symptom' as const, 'application-error' as const, 'dependency' as const, 'rollout' as const],
        owner: removed ? ('undetermined' as const) : ownershipOf(facts, writer),
        boundary: (down && /pull/i.test(event?.message ?? '') ? 'image' : 'dns') as 'image' | 'dns',
        strength: removed ? ('circumstantial' as const) : ('derived' as const),
        cause: text(
          deleted.length > 0
            ? `The record of ${hosts.find((host) => deleted[0]!.line.includes(host))} was deleted by external-dns${removed ? '; no Ingress asks for it' : ', although its Ingress is there'}.`
            : `Nothing writes DNS records: external-dns is down${event ? ` (${event.message.slice(0, 200)})` : ''}.`,
        ),
        root: refOf(writer),
        affects: [
          ...facts.subjects.map((subject) => ({
            kind: subject.kind,
            name: subject.name ?? '',
            namespace: subject.namespace,
          })),
          ...scope.workloads.map(refOf),
        ],
        evidence: [
          ...deleted.slice(0, 2).map((entry) => evidence.log(entry.log, entry.line)),
          ...(event ? [evidence.event(event)] : []),
          ...sick.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
        ],
        chain: [
          link(writer, deleted.length > 0 ? 'deleted the record' : 'is down'),
          ...scope.workloads.slice(0, 2).map((it) => link(it, 'has no public name')),
        ],
        missing: removed
          ? [
              {
                layer: 'app' as const,
                missing: 'who removed the host',
                fix: 'kubectl get ingress -A; the audit log of its namespace',
              },
            ]
          : [],
        nextSteps: [
          text(
            `kubectl describe ${writer.kind.toLowerCase()} ${writer.metadata.name} -n ${writer.metadata.namespace}; kubectl logs of it`,
          ),
        ],
      },
    ];
  },
});

/** An Ingress asks for one of the hosts, or none could be read. */
const isServed = (facts: ClusterFacts, hosts: string[]): boolean =>
  !facts.wasRead('ingresses') ||
  facts.all('Ingress').some((ingress) => (ingress.spec?.rules ?? []).some((entry: any) => hosts.includes(entry.host)));
