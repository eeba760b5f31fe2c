import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

const absent =
  /persistentvolumeclaim "([^"]+)" (not found|is being deleted)|failed to (?:get|validate) pvc.{0,40}"([^"]+)" not found/;
const lost = /persistentvolumeclaim "([^"]+)" bound to non-existent persistentvolume/;

export default rule({
  title: 'A pod names a volume claim that does not exist, or whose volume is gone',
  lookAlikes: ['a claim that exists and waits for its first consumer'],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const words = `${group.message}\n${group.karpenterEvent?.message ?? ''}`;
      const missing = absent.exec(words);
      const orphan = lost.exec(words);
      const name = missing?.[1] ?? missing?.[3] ?? orphan?.[1];
      if (!name) return [];
      const owner = orphan ? ('platform' as const) : ownershipOf(facts, group.workload);
      const evidence = cite(owner, facts);
      const deleted = missing?.[2] === 'is being deleted';
      return [
        {
          mechanism: 'volume' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
          owner,
          boundary: orphan ? ('storage' as const) : ('config' as const),
          strength: orphan ? ('derived' as const) : ('direct' as const),
          cause: text(
            `${nameOf(group.workload)} mounts claim ${name}, ${orphan ? 'whose volume no longer exists' : deleted ? 'which is being deleted' : 'which does not exist'}; ${group.pods.length} pods wait.`,
          ),
          root: refOf(group.workload),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [...refusalEvidence(evidence, group), evidence.field(group.sample, 'spec.volumes')],
          chain: [link(group.workload, `mounts claim ${name}`), ...waitingChain(group)],
          nextSteps: [
            text(
              orphan
                ? `Restore the volume behind claim ${name} from a snapshot, or make the claim anew.`
                : `Create claim ${name} in ${group.workload.metadata.namespace}, or correct the name: kubectl -n ${group.workload.metadata.namespace} get pvc`,
            ),
          ],
        },
      ];
    });
  },
});
