import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { policyOwner } from '../../facts/control-plane/policy-owner.ts';
import { citeRefusal, type RefusedCreation, refusedCreations } from '../../facts/control-plane/refused-creations.ts';
import { isFinished } from '../../facts/pods.ts';
import { quantity } from '../../facts/quantity.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const exceeded = /exceeded quota: ([^,\s]+), requested: (.*), used: (.*), limited: (.*?)\.?$/s;
/** Quota objects a managed service keeps by itself. */
const vendorQuota = /^(gke-resource-quotas|aks-managed-|eks-)/;
/** Counted pods beyond this multiple of those that exist: the quota's own count is wrong. */
const staleFactor = 3;

export default rule({
  title: 'Pods are not created because a ResourceQuota is used up; whoever set the quota last owns it',
  lookAlikes: [
    '"must specify": the quota has room, the template lacks requests',
    "the same text with the app team's own pipeline as the quota's last writer",
    'a quota object of the vendor whose count is stale',
  ],
  judge(facts, scope) {
    const refused = refusedCreations(facts, scope).filter((entry) => exceeded.test(entry.text));
    return groupBy(refused, (entry) => `${entry.workload.metadata.namespace}/${exceeded.exec(entry.text)![1]}`).flatMap(
      (group) => quotaFinding(facts, group),
    );
  },
});

const quotaFinding = (facts: ClusterFacts, group: RefusedCreation[]): FindingDraft[] => {
  const entry = group.at(-1)!;
  const [, name, requested, used, limited] = exceeded.exec(entry.text)!;
  const namespace = entry.workload.metadata.namespace ?? '';
  const quota = facts.find('ResourceQuota', name, namespace);
  const { owner, because, strength } = ownerOfQuota(facts, entry.workload, quota, name!, used!);
  const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
  const writer = quota && lastWriter(quota, 'f:hard');
  const creator = quota?.metadata.managedFields?.[0]?.manager;
  const hard = Object.keys(quota?.spec?.hard ?? {}).find((key) => limited!.includes(key));
  const course = facts
    .series('kube_resourcequota', { namespace, resourcequota: name!, type: 'hard' })
    .find((series) => !hard || series.labels.resource === hard);
  const cut = course && course.points[0]![1] > course.points.at(-1)![1];
  return [
    {
      mechanism: 'quota',
      explains: ['rollout', 'scaling-limit', 'unknown-symptom', 'application-error', 'load'],
      owner,
      boundary: 'quota',
      strength,
      cause: text(
        `ResourceQuota ${namespace}/${name} is used up (requested ${requested}, used ${used}, limited ${limited}), so the API server refuses pods of ${nameOf(entry.workload)}; ${because}${cut ? `, and its limit was cut from ${course!.points[0]![1]} to ${course!.points.at(-1)![1]}` : ''}.`,
      ),
      root: quota ? refOf(quota) : { kind: 'ResourceQuota', name: name!, namespace },
      affects: [...group.map((item) => item.workload), ...(quota ? [quota] : [])].map(refOf),
      onset: entry.at,
      evidence: [
        ...group.slice(-2).map((item) => citeRefusal(evidence, item)),
        ...(quota
          ? [
              evidence.field(quota, 'spec.hard'),
              evidence.field(quota, 'status.used'),
              evidence.field(
                quota,
                'metadata.managedFields',
                `last writer of spec.hard: ${writer?.manager ?? 'unknown'}${writer?.time ? ` at ${writer.time}` : ''}; labels ${JSON.stringify(quota.metadata.labels ?? {})}`,
              ),
            ]
          : []),
        ...(cut
          ? [evidence.series(course!, `hard limit ${course!.points[0]![1]} → ${course!.points.at(-1)![1]}`)]
          : []),
      ],
      chain: [
        ...(quota ? [link(quota, `used ${used} of ${limited}`)] : []),
        link(entry.creator, 'may not create pods'),
        link(entry.workload, 'lacks replicas'),
      ],
      contributing:
        owner === 'app' && creator && creator !== writer?.manager
          ? [
              {
                owner: 'platform',
                action: text(
                  `Review whether a team's pipeline should be able to cut ResourceQuota ${namespace}/${name} below what its workloads need for a rollout.`,
                ),
              },
            ]
          : [],
      nextSteps: [
        text(`kubectl describe resourcequota ${name} -n ${namespace}`),
        text(
          owner === 'app'
            ? `Raise ${hard ?? 'the limit'} in the source of this quota, or request less.`
            : `Raise ${hard ?? 'the limit'} of the quota for ${namespace}, or have the team request less.`,
        ),
      ],
      missing:
        owner === 'undetermined'
          ? [
              {
                layer: 'platform',
                missing: `who set ResourceQuota ${namespace}/${name}`,
                fix: `kubectl get resourcequota ${name} -n ${namespace} -o yaml --show-managed-fields`,
              },
            ]
          : [],
    },
  ];
};

interface QuotaOwner {
  owner: Owner;
  because: string;
  strength: 'direct' | 'derived' | 'circumstantial';
}

const ownerOfQuota = (
  facts: ClusterFacts,
  workload: KubeObject,
  quota: KubeObject | undefined,
  name: string,
  used: string,
): QuotaOwner => {
  const namespace = workload.metadata.namespace ?? '';
  const counted = quantity(/(?:^|,)(?:count\/)?pods=([\d.]+\w*)/.exec(used)?.[1]);
  const existing = facts.in('Pod', namespace).filter((pod) => !isFinished(pod)).length;
  if (counted > staleFactor * Math.max(existing, 10) && facts.wasRead('pods'))
    return vendorQuota.test(name)
      ? {
          owner: 'cloud',
          because: `it is the vendor's object and counts ${counted} pods where ${existing} exist`,
          strength: 'direct',
        }
      : {
          owner: 'platform',
          because: `its count is stale: ${counted} pods counted, ${existing} exist`,
          strength: 'derived',
        };
  if (vendorQuota.test(name))
    return {
      owner: 'app',
      because: "the vendor's limit is real and reached by what the namespace runs",
      strength: 'circumstantial',
    };
  if (!quota) return { owner: 'platform', because: 'the quota object itself was not read', strength: 'circumstantial' };
  return policyOwner(facts, quota, workload, 'f:hard');
};
