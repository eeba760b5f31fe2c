import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { isBound, isPending } from '../../facts/pods.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Image and volume steps take a while; before this a starting pod is no puzzle. */
const patienceMinutes = 5;
const silentReasons = /^(ContainerCreating|PodInitializing)$/;

export default rule({
  title: 'Bound pods stay in ContainerCreating and the events that would say why may not be read',
  lookAlikes: ['events were read and there are none: they expire after an hour'],
  judge(facts, scope) {
    const pods = scope.troubledPods.filter(
      (pod) =>
        isPending(pod) &&
        isBound(pod) &&
        minutesBetween(pod.metadata.creationTimestamp, facts.now) > patienceMinutes &&
        (pod.status?.containerStatuses ?? []).every((status: any) =>
          silentReasons.test(status.state?.waiting?.reason ?? 'ContainerCreating'),
        ) &&
        facts.eventsAbout(pod).filter((event) => event.type === 'Warning').length === 0,
    );
    const [pod] = pods;
    if (!pod) return [];
    const namespace = pod.metadata.namespace ?? 'default';
    const gap = facts.gapOf('events', namespace);
    const others = facts.reads
      .filter(
        (read) =>
          read.gap?.reason === 'forbidden' &&
          read.what !== 'events' &&
          read.source !== 'log' &&
          (!read.namespace || read.namespace === namespace),
      )
      .filter((read, index, all) => all.findIndex((other) => other.what === read.what) === index)
      .slice(0, 3);
    const evidence = cite('platform', facts);
    const age = duration(minutesBetween(earliest(...pods.map((entry) => entry.metadata.creationTimestamp)), facts.now));
    return [
      {
        mechanism: 'unknown-symptom',
        explains: [],
        owner: 'undetermined',
        boundary: null,
        strength: 'circumstantial',
        cause: text(
          gap
            ? `${pods.length} bound pods of ${namespace} have been in ContainerCreating for ${age}; whether a volume, a secret, the CNI or the runtime holds them is only in events, which could not be read (${gap.message}). Nothing seen implicates a layer.`
            : `${pods.length} bound pods of ${namespace} have been in ContainerCreating for ${age} and no event says why; events expire after an hour.`,
        ),
        root: refOf(pod),
        affects: pods.map(refOf),
        onset: earliest(...pods.map((entry) => entry.metadata.creationTimestamp)),
        evidence: pods
          .slice(0, 2)
          .flatMap((entry) => [
            evidence.field(entry, 'status.containerStatuses[0].state.waiting'),
            evidence.condition(entry, 'Ready'),
          ]),
        chain: [link(pod, `ContainerCreating for ${age}`)],
        nextSteps: [
          text(
            gap
              ? `${gap.fix}`
              : `kubectl describe pod -n ${namespace} ${pod.metadata.name}; delete it to see fresh events.`,
          ),
          text(`kubectl auth can-i list events -n ${namespace} --as=<reader>`),
        ],
        missing: gap
          ? [
              { layer: 'platform', missing: gap.message, fix: gap.fix },
              ...others.map((read) => ({ layer: 'platform' as const, missing: read.gap!.message, fix: read.gap!.fix })),
            ]
          : [
              {
                layer: 'platform',
                missing: `events about pod ${namespace}/${pod.metadata.name}`,
                fix: `kubectl delete pod -n ${namespace} ${pod.metadata.name} and look at the new one's events`,
              },
            ],
      },
    ];
  },
});
