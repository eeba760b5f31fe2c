import type { Strength } from '../../domain/finding.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { teamOf } from '../ownership.ts';
import { lastWriter, sharesWord, speaksOfPlatform } from '../writers.ts';

export interface PolicyOwner {
  owner: 'platform' | 'app';
  because: string;
  strength: Strength;
}

/**
 * Who sets a quota, limit range or policy of a namespace: the team itself where the last writer of `path` or the
 * managing tool bears its name, else whoever runs the cluster.
 */
export const policyOwner = (
  facts: ClusterFacts,
  policy: KubeObject,
  workload: KubeObject,
  path: string,
): PolicyOwner => {
  const namespace = policy.metadata.namespace ?? '';
  const writer = lastWriter(policy, path)?.manager;
  const label = policy.metadata.labels?.['app.kubernetes.io/managed-by'];
  const own = [namespace, teamOf(workload), teamOf(facts.find('Namespace', namespace)), workload.metadata.name];
  const isOwn = (who: string | undefined): boolean => own.some((word) => sharesWord(who, word));
  if (writer && isOwn(writer))
    return { owner: 'app', because: `${writer} of the team itself wrote it last`, strength: 'direct' };
  if (!writer && label && isOwn(label))
    return { owner: 'app', because: `the team's own ${label} manages it`, strength: 'direct' };
  const platform = [writer, label].find(speaksOfPlatform);
  if (platform) return { owner: 'platform', because: `${platform} sets it`, strength: 'direct' };
  return {
    owner: 'platform',
    because: writer ? `${writer} sets it` : 'it is set by who runs the cluster',
    strength: 'derived',
  };
};
