import type { KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, instanceStatusOf, openIssues } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { isNotReady, silentSince } from '../../facts/nodes/nodes.ts';
import { machineOwner, vendorOf } from '../../facts/provider.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** EC2's own announcements that the host must be left. */
const hostEvents = /^(instance-retirement|instance-stop|system-reboot|system-maintenance|instance-reboot)$/;
const done = /^\[(Completed|Canceled)\]/;
/** Hardware faults that a node's own agents report: GPU, memory, CPU, device. */
const hardware =
  /^(NvidiaDoubleBitError|NvidiaNVLinkError|NvidiaXID\d+Error|NvidiaDeviceCountMismatch|NvidiaFabricError|Neuron\w*Uncorrectable\w*|NeuronDMAError|DCGM\w+|MemoryReadError|CperHardwareErrorFatal|HardwareError)/;
/** System events of Alibaba Cloud and Google's host error: the vendor restarts or moves the machine because of its host. */
const systemEvent =
  /\b(?:SystemFailure|InstanceFailure)\.(?:Reboot|Stop|Redeploy|Delete)|SystemMaintenance\.(?:Reboot|Stop|Redeploy)|compute\.instances\.hostError|\bHostError\b/;
/** A restart that long ago has been lived with. */
const systemEventMinutes = 6 * 60;
/** Conditions by which node problem detector reports a fatal fault of the hardware. */
const fatal = ['CperHardwareErrorFatal', 'HardwareErrorFatal'];
/** Conditions of Azure's scheduled events: the platform takes the VM away for maintenance of its host. */
const azureScheduled = /^(FreezeScheduled|RebootScheduled|RedeployScheduled|TerminateScheduled|VMEventScheduled)$/;

interface Sign {
  words: string;
  at?: string;
  evidence: ReturnType<ReturnType<typeof cite>['aws']>[];
  /** The machine names the host itself. */
  direct: boolean;
}

export default rule({
  title: 'The machine under a node is bad: system status check, scheduled host event, hardware fault',
  lookAlikes: [
    'only the instance check fails: the guest, not the host',
    'a busy or memory-hungry workload on the node: a coincidence while the host itself fails',
    'a scheduled event that is completed or canceled, or lies in the future of a healthy node',
  ],
  judge(facts, scope) {
    const candidates = [...new Set([...scope.nodes, ...scope.subjectNodes, ...facts.all('Node').filter(isNotReady)])];
    return candidates.flatMap((node) => {
      const signs = signsOf(facts, node);
      const [first] = signs;
      if (!first) return [];
      const owner = machineOwner(facts, node);
      const evidence = cite(owner, facts);
      const id = instanceIdOf(node);
      const rebooted = facts
        .eventsAbout(node, 'Rebooted')
        .filter((event) => minutesBetween(event.lastAt, facts.now) < systemEventMinutes);
      return [
        {
          mechanism: 'host-failure' as const,
          explains: [
            'node-silent' as const,
            'node-runtime' as const,
            'node-pressure' as const,
            'node-removed' as const,
            'probe' as const,
            'eviction' as const,
            'crash' as const,
            'volume' as const,
            'oom' as const,
            'unknown-symptom' as const,
            'application-error' as const,
          ],
          owner,
          boundary: 'node' as const,
          strength:
            signs.some((sign) => sign.direct) && (isNotReady(node) || signs.length > 1 || rebooted.length > 0)
              ? ('direct' as const)
              : ('derived' as const),
          cause: text(
            `The machine under node ${node.metadata.name}${id ? ` (${id})` : ''} is bad: ${signs.map((sign) => sign.words).join('; ')}.`,
          ),
          root: refOf(node),
          affects: harmedBy(facts, [node]),
          onset: earliest(...signs.map((sign) => sign.at), isNotReady(node) ? silentSince(facts, node) : undefined),
          evidence: [
            ...signs.flatMap((sign) => sign.evidence),
            ...rebooted.slice(-1).map((event) => evidence.event(event)),
            evidence.condition(node, 'Ready'),
          ],
          chain: [
            link(node, first.words),
            ...facts
              .podsOn(node.metadata.name)
              .slice(0, 2)
              .map((pod) => link(pod, 'runs there')),
          ],
          nextSteps: [
            text(
              `Replace the node: kubectl delete node ${node.metadata.name} (Karpenter or the group makes another)${id ? `; stop and start ${id} moves it to another host` : ''}.`,
            ),
            text(
              owner === 'platform'
                ? `Have the machine ${node.metadata.name} repaired: hardware log of its management controller (ipmitool sel list), memory and disk tests.`
                : `Open a case with ${vendorOf(facts)} naming ${id ?? node.spec?.providerID ?? node.metadata.name} and the check or event.`,
            ),
          ],
        },
      ];
    });
  },
});

const signsOf = (facts: ClusterFacts, node: KubeObject): Sign[] => {
  const evidence = cite('cloud', facts);
  const signs: Sign[] = [];
  const status = instanceStatusOf(facts, node);
  const id = instanceIdOf(node);
  const detail = status?.SystemStatus?.Details?.find((entry: any) => entry.Status === 'failed');
  if (status?.SystemStatus?.Status === 'impaired')
    signs.push({
      words: 'its EC2 system status check fails',
      at: detail?.ImpairedSince,
      direct: true,
      evidence: [
        evidence.aws(
          'ec2.describeInstanceStatus',
          `${id}.SystemStatus`,
          status.SystemStatus.Status,
          detail ? `SystemStatus ${detail.Name} ${detail.Status}` : '',
          detail?.ImpairedSince,
        ),
      ],
    });
  if (status?.AttachedEbsStatus?.Status === 'impaired')
    signs.push({
      words: 'its attached EBS volumes are not reachable',
      direct: true,
      evidence: [evidence.aws('ec2.describeInstanceStatus', `${id}.AttachedEbsStatus`, 'impaired')],
    });
  for (const event of status?.Events ?? [])
    if (
      hostEvents.test(event.Code ?? '') &&
      !done.test(event.Description ?? '') &&
      (isNotReady(node) || due(event, facts.now))
    )
      signs.push({
        words: `EC2 announces ${event.Code} ("${event.Description ?? ''}")`,
        direct: /degraded|retire|hardware/i.test(`${event.Code} ${event.Description ?? ''}`),
        evidence: [
          evidence.aws(
            'ec2.describeInstanceStatus',
            `${id}.Events`,
            event.Code,
            event.Description ?? '',
            event.NotBefore,
          ),
        ],
      });
  for (const series of facts
    .cloudWatch('AWS/EC2', 'StatusCheckFailed_System')
    .filter((entry) => entry.dimensions.InstanceId === id)) {
    const failed = series.points.filter(([, value]) => value > 0);
    if (id && failed.length > 0 && series.points.at(-1)![1] > 0)
      signs.push({
        words: 'StatusCheckFailed_System is 1',
        at: failed[0]![0],
        direct: true,
        evidence: [evidence.cloudWatch(series, `1 since ${failed[0]![0]}`)],
      });
  }
  const accelerated = isFalse(node, 'AcceleratedHardwareReady');
  if (accelerated && hardware.test(accelerated.reason ?? ''))
    signs.push({
      words: `its accelerator is faulty (${accelerated.reason})`,
      at: accelerated.lastTransitionTime,
      direct: true,
      evidence: [evidence.condition(node, 'AcceleratedHardwareReady')],
    });
  for (const event of facts.eventsAbout(node).filter((entry) => hardware.test(entry.reason)))
    signs.push({
      words: `${event.reason}: ${event.message.slice(0, 100)}`,
      at: event.firstAt,
      direct: true,
      evidence: [evidence.event(event)],
    });
  for (const type of fatal.filter((entry) => isTrue(node, entry)))
    signs.push({
      words: `its firmware reports a fatal hardware error (${type})`,
      at: node.status.conditions.find((entry: any) => entry.type === type).lastTransitionTime,
      direct: true,
      evidence: [evidence.condition(node, type)],
    });
  for (const event of facts
    .eventsAbout(node)
    .filter((entry) => systemEvent.test(`${entry.reason} ${entry.message}`))
    .filter((entry) => minutesBetween(entry.lastAt, facts.now) < systemEventMinutes))
    signs.push({
      words: `${event.reason}: ${event.message.slice(0, 140)}`,
      at: event.firstAt,
      direct: true,
      evidence: [evidence.event(event)],
    });
  for (const condition of node.status?.conditions ?? [])
    if (azureScheduled.test(condition.type) && isTrue(node, condition.type) && isNotReady(node))
      signs.push({
        words: `Azure has scheduled ${condition.type.replace('Scheduled', '').toLowerCase()} of its host`,
        at: condition.lastTransitionTime,
        direct: true,
        evidence: [evidence.condition(node, condition.type)],
      });
  const named = openIssues(facts, /EC2/).find((issue) => id && issue.entities.includes(id));
  if (named)
    signs.push({
      words: `AWS Health ${named.code} names it`,
      at: named.startedAt,
      direct: true,
      evidence: [evidence.aws('health.describeEvents', 'events', named.code, named.description, named.startedAt)],
    });
  return signs;
};

const isFalse = (node: KubeObject, type: string) =>
  (node.status?.conditions ?? []).find((entry: any) => entry.type === type && entry.status === 'False');

/** An announced event is a cause only once its time has come. */
const due = (event: any, now: string): boolean => Boolean(event.NotBefore) && event.NotBefore <= now;
