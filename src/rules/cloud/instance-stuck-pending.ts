import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, instanceOf, instanceStatusOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { leaseAgeMinutes, leaseOf, zoneOf } from '../../facts/nodes/nodes.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** EC2 leaves `pending` within a minute or two; an attachment takes seconds. */
const stuckMinutes = 5;

export default rule({
  title: 'EC2 keeps an instance in pending, or its interface or volume in attaching, although its kubelet runs',
  lookAlikes: ['a node that has just been launched', 'a CNI that has no addresses: the subnet, not the instance'],
  judge(facts) {
    return facts.all('Node').flatMap((node) => {
      const id = instanceIdOf(node);
      const instance = instanceOf(facts, node);
      const state = instance?.State?.Name ?? instanceStatusOf(facts, node)?.InstanceState?.Name;
      const attaching = [
        ...(instance?.NetworkInterfaces ?? [])
          .filter((entry: any) => entry.Attachment?.Status === 'attaching')
          .map((entry: any) => entry.NetworkInterfaceId),
        ...(instance?.BlockDeviceMappings ?? [])
          .filter((entry: any) => entry.Ebs?.Status === 'attaching')
          .map((entry: any) => entry.Ebs.VolumeId),
      ];
      const refused = id ? linesLike(facts, new RegExp(`IncorrectState.*${id}|${id}.*is not 'running'`)) : [];
      const age = minutesBetween(instance?.LaunchTime ?? node.metadata.creationTimestamp, facts.now);
      const talks = leaseAgeMinutes(facts, leaseOf(facts, node)) < 2;
      if (!id || age < stuckMinutes || !(state === 'pending' || attaching.length > 0 || (refused.length > 0 && talks)))
        return [];
      const evidence = cite('cloud', facts);
      const sibling = facts
        .all('Node')
        .find(
          (other) =>
            other !== node && zoneOf(other) === zoneOf(node) && instanceOf(facts, other)?.State?.Name === 'running',
        );
      const words = `${state === 'pending' ? 'in state "pending"' : `in state "${state ?? 'unknown'}"`}${attaching.length > 0 ? ` with ${attaching.join(', ')} still attaching` : ''}`;
      return [
        {
          mechanism: 'host-failure' as const,
          explains: [
            'sandbox-network' as const,
            'address-exhaustion' as const,
            'node-not-initialized' as const,
            'node-not-joining' as const,
            'network' as const,
            'node-runtime' as const,
            'volume' as const,
            'pending' as const,
            'scheduling' as const,
            'rollout' as const,
            'unknown-symptom' as const,
          ],
          owner: 'cloud' as const,
          boundary: 'node' as const,
          strength: state === 'pending' || attaching.length > 0 ? ('direct' as const) : ('derived' as const),
          cause: text(
            `EC2 has kept instance ${id} of node ${node.metadata.name} ${words} for ${duration(age)}${talks ? ' although its kubelet runs' : ''}, so no further interface or volume can be attached.`,
          ),
          root: refOf(node),
          affects: harmedBy(facts, [node]),
          onset: instance?.LaunchTime ?? node.metadata.creationTimestamp,
          evidence: [
            ...(state
              ? [
                  evidence.aws(
                    'ec2.describeInstances',
                    `${id}.State`,
                    `"${state}"`,
                    attaching.length > 0 ? `${attaching.join(', ')} attaching` : '',
                    instance?.LaunchTime,
                  ),
                ]
              : []),
            ...refused.slice(-2).map((entry) => evidence.log(entry.log, entry.line)),
            ...(leaseOf(facts, node) ? [evidence.field(leaseOf(facts, node)!, 'spec.renewTime')] : []),
            ...facts
              .podsOn(node.metadata.name)
              .flatMap((pod) => facts.eventsAbout(pod, 'FailedCreatePodSandBox').slice(-1))
              .slice(0, 1)
              .map((event) => evidence.event(event)),
            ...(sibling
              ? [
                  evidence.aws(
                    'ec2.describeInstances',
                    `${instanceIdOf(sibling)}.State`,
                    'running',
                    `sibling ${sibling.metadata.name} of the same zone is well`,
                  ),
                ]
              : []),
          ],
          chain: [link(node, words)],
          nextSteps: [
            text(
              `Replace the node: kubectl delete node ${node.metadata.name}; open an AWS case with ${id}: state pending for ${duration(age)}.`,
            ),
          ],
        },
      ];
    });
  },
});
