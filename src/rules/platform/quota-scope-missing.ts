import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { citeRefusal, refusedCreations } from '../../facts/control-plane/refused-creations.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** The quota admission's words where its configuration limits a resource and no quota of the namespace allows it. */
const insufficient = /insufficient quota to (?:consume|match these scopes): ([^\n]*)/;

export default rule({
  title:
    'Pods are not created because the cluster allows their priority or resource only where a quota grants it, and their namespace has none',
  lookAlikes: [
    'a quota that exists and is used up',
    'a quota that asks for requests or limits the template lacks',
    'a PriorityClass that does not exist',
  ],
  judge(facts, scope) {
    const refused = refusedCreations(facts, scope).filter((entry) => insufficient.test(entry.text));
    return groupBy(refused, (entry) => nameOf(entry.workload)).map((group): FindingDraft => {
      const { workload } = group[0]!;
      const namespace = workload.metadata.namespace ?? '';
      const wants = insufficient.exec(group[0]!.text)![1]!.replace(/\s+$/, '');
      const priority = podSpecOf(workload).priorityClassName;
      const evidence = cite('platform', facts);
      return {
        mechanism: 'quota',
        explains: ['pending', 'rollout', 'job', 'unknown-symptom', 'admission-denied'],
        owner: 'platform',
        boundary: 'quota',
        strength: 'derived',
        cause: text(
          `${nameOf(workload)} gets no pods: the cluster allows ${wants} only where a ResourceQuota grants it, and namespace ${namespace} has no such quota${priority ? ` (the template asks for priority ${priority})` : ''}.`,
        ),
        root: { kind: 'Namespace', name: namespace },
        affects: group.flatMap((entry) => [entry.workload, entry.creator]).map(refOf),
        onset: earliest(...group.map((entry) => entry.at)),
        evidence: [
          ...group.slice(0, 2).map((entry) => citeRefusal(evidence, entry)),
          ...(priority ? [evidence.field(workload, 'spec.template.spec.priorityClassName')] : []),
          ...facts
            .in('ResourceQuota', namespace)
            .slice(0, 2)
            .map((quota) => evidence.field(quota, 'spec')),
        ],
        chain: [
          { object: `Namespace ${namespace}`, claim: `no quota for ${wants}` },
          link(workload, 'no pod is created'),
        ],
        contributing: priority
          ? [{ owner: 'app', action: text(`Run ${nameOf(workload)} with a priority its namespace may use.`) }]
          : [],
        nextSteps: [
          text(
            `kubectl -n ${namespace} get resourcequota -o yaml: add a quota whose scopeSelector matches ${wants}, if this namespace is meant to have it.`,
          ),
        ],
      };
    });
  },
});
