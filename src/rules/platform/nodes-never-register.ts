import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { claimsOfPool, lastWrite, nodeClassOf, waitingFor } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { bootstrapFaultOf } from '../../facts/nodes/node-bootstrap.ts';
import { minutesBetween, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A machine that has not joined after this long will not: the usual time is one to three minutes. */
const joinMinutes = 8;

export default rule({
  title:
    'Machines of a NodePool start and never join the cluster: image, user data, access entry or network of its class',
  lookAlikes: [
    'spot reclaims: these end on a fixed beat by the controller’s registration timeout',
    'machines that are only minutes old',
    'a pool at its limit, where the machines that never joined hold the room',
  ],
  judge(facts) {
    return facts.all('NodePool').flatMap((pool) => {
      const claims = claimsOfPool(facts, pool);
      const lost = claims.filter(
        (claim) => isTrue(claim, 'Launched') && !isTrue(claim, 'Registered') && !claim.status?.nodeName,
      );
      const overdue = lost.filter(
        (claim) => minutesBetween(claim.metadata.creationTimestamp, facts.now) >= joinMinutes,
      );
      const timeouts = registrationTimeouts(facts, pool);
      const unhealthy = condition(pool, 'NodeRegistrationHealthy');
      const failing = unhealthy?.status === 'False' && unhealthy.reason === 'RegistrationFailed';
      if (overdue.length === 0 && !(failing && lost.length > 0) && timeouts.length < 2) return [];
      if (isTrue(pool, 'NodeRegistrationHealthy') && overdue.length < 2 && timeouts.length < 2) return [];
      const nodeClass = nodeClassOf(facts, pool);
      const fault = nodeClass && bootstrapFaultOf(facts, nodeClass);
      const write = nodeClass && lastWrite(nodeClass);
      const waiting = waitingFor(facts, pool);
      const evidence = cite('platform', facts);
      const joined = claims.filter((claim) => isTrue(claim, 'Registered')).length;
      return [
        {
          mechanism: 'node-not-joining' as const,
          explains: [
            'pending' as const,
            'scheduling' as const,
            'pool-limit' as const,
            'autoscaler-growth' as const,
            'node-churn' as const,
            'rollout' as const,
            'unknown-symptom' as const,
          ],
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: fault ? ('direct' as const) : ('derived' as const),
          cause: text(
            `Machines of NodePool ${pool.metadata.name} start and never join the cluster (${lost.length} of ${claims.length} claims unregistered, ${timeouts.length} given up after the registration timeout)${fault ? `: ${fault.says}` : ''}${write ? `; ${nodeClass.kind} ${nodeClass.metadata.name} was last written by ${write.manager} at ${write.time}` : ''}.`,
          ),
          root: refOf(nodeClass ?? pool),
          affects: [...waiting.map(refOf), refOf(pool), ...lost.map(refOf), ...(nodeClass ? [refOf(nodeClass)] : [])],
          onset: onsetOf(lost, timeouts, unhealthy?.lastTransitionTime),
          evidence: [
            ...(unhealthy ? [evidence.condition(pool, 'NodeRegistrationHealthy')] : []),
            ...(fault ? fault.evidence : []),
            ...lost.slice(0, 2).map((claim) => evidence.condition(claim, 'Registered')),
            ...timeouts.slice(0, 2).map(({ log, line }) => evidence.log(log, line)),
            ...(nodeClass && write ? [evidence.field(nodeClass, 'metadata.managedFields', write)] : []),
            ...(nodeClass
              ? [evidence.field(nodeClass, 'spec.amiSelectorTerms'), evidence.field(nodeClass, 'spec.userData')]
              : []),
          ],
          chain: [
            ...(nodeClass
              ? [
                  {
                    object: `${nodeClass.kind} ${nodeClass.metadata.name}`,
                    uid: nodeClass.metadata.uid,
                    claim: fault?.says ?? 'its machines never register',
                  },
                ]
              : []),
            {
              object: `NodePool ${pool.metadata.name}`,
              uid: pool.metadata.uid,
              claim: `${lost.length} unregistered, ${joined} registered`,
            },
            ...waiting.slice(0, 2).map((pod) => ({
              object: `Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
              uid: pod.metadata.uid,
              claim: 'waits',
            })),
          ],
          nextSteps: [
            ...(fault ? [text(fault.fix)] : []),
            text(
              'Read the machine’s console output (aws ec2 get-console-output --instance-id …): the kubelet or the bootstrap says why it did not join.',
            ),
          ],
          missing: [],
        },
      ];
    });
  },
});

const registrationTimeouts = (facts: ClusterFacts, pool: KubeObject) =>
  facts.logs
    .filter((log) => /^karpenter/.test(log.pod))
    .flatMap((log) => log.text.split('\n').map((line) => ({ log, line })))
    .filter(
      ({ line }) =>
        /registration_timeout|"reason":"liveness"|registration (ttl|timeout)/i.test(line) &&
        new RegExp(`"${pool.metadata.name}-[a-z0-9]{5}"`).test(line) &&
        minutesBetween(/"time":"([^"]+)"/.exec(line)?.[1], facts.now) < 90,
    );

const onsetOf = (lost: KubeObject[], timeouts: { line: string }[], since: string | undefined): string | undefined =>
  [
    ...lost.map((claim) => claim.metadata.creationTimestamp ?? ''),
    ...timeouts.map(({ line }) => /"time":"([^"]+)"/.exec(line)?.[1] ?? ''),
    since ?? '',
  ]
    .filter((time) => !Number.isNaN(toMs(time)) && time !== '')
    .sort()[0];
