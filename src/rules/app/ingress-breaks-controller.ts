import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { lastChangeOf } from '../../facts/changes/last-change.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** nginx's configuration test, which names the word it stumbles over. */
const refused =
  /\[emerg\][^\n]*?(?:unknown directive|invalid (?:number of arguments|parameter|value)[^"]*|unexpected|unknown "|duplicate \w+|host not found in upstream)\s*"?([\w.-]{4,})"?/;

export default rule({
  title: 'What one Ingress says breaks the configuration of the whole controller, so that nobody’s changes take effect',
  lookAlikes: [
    'a configuration that the controller’s own ConfigMap or release breaks: no Ingress holds the word',
    'an Ingress that is refused alone, at admission',
  ],
  judge(facts, scope) {
    const lines = grep(facts, scope.pods, refused);
    const words = [...new Set(lines.map((line) => refused.exec(line.text)![1]!))];
    return words.flatMap((word) => {
      const holders = facts.all('Ingress').filter((ingress) => annotationWith(ingress, word));
      const told = lines.filter((line) => line.text.includes(word));
      return holders.length > 0 ? [breakingFinding(facts, latestOf(facts, holders), word, told)] : [];
    });
  },
});

const annotationWith = ({ metadata }: KubeObject, word: string): string | undefined =>
  Object.entries(metadata.annotations ?? {}).find(([, value]) => value.includes(word))?.[0];

const latestOf = (facts: ClusterFacts, ingresses: KubeObject[]): KubeObject =>
  ingresses.reduce((a, b) => ((lastChangeOf(facts, b)?.at ?? '') > (lastChangeOf(facts, a)?.at ?? '') ? b : a));

const breakingFinding = (facts: ClusterFacts, ingress: KubeObject, word: string, told: PodLogLine[]): FindingDraft => {
  const owner = ownershipOf(facts, ingress);
  const evidence = cite(owner, facts);
  const key = annotationWith(ingress, word)!;
  const change = lastChangeOf(facts, ingress);
  const last = told.at(-1)!;
  const controllers = [...new Set(told.flatMap(({ log }) => facts.find('Pod', log.pod, log.namespace) ?? []))];
  return {
    mechanism: 'traffic',
    explains: ['application-error', 'dependency', 'rollout', 'unknown-symptom'],
    owner,
    boundary: 'config',
    strength: 'direct',
    cause: text(
      `${nameOf(ingress)} says "${word}" in ${key}${change?.write?.manager ? ` (last written by ${change.write.manager} at ${change.at})` : ''}, which the controller cannot load: "${last.text.slice(0, 160)}". Until it is corrected no change of any Ingress takes effect.`,
    ),
    root: refOf(ingress),
    affects: [ingress, ...controllers, ...controllers.map((pod) => facts.workloadOf(pod))].map(refOf),
    onset: change?.at,
    evidence: [
      evidence.log(last.log, last.text),
      evidence.field(ingress, `metadata.annotations[${key}]`, ingress.metadata.annotations![key]!.slice(0, 300)),
      ...(change?.write ? [evidence.field(ingress, 'metadata.managedFields', change.write)] : []),
    ],
    chain: [
      link(ingress, `says "${word}"`),
      ...controllers.slice(0, 2).map((pod) => link(pod, 'cannot load its configuration')),
    ],
    contributing:
      owner === 'app'
        ? [
            {
              owner: 'platform',
              action: text(
                'Validate snippets at admission, or switch them off (allow-snippet-annotations), so that one Ingress cannot stop all.',
              ),
            },
          ]
        : [],
    nextSteps: [
      text(
        change?.undo ?? `Correct it: kubectl edit ingress ${ingress.metadata.name} -n ${ingress.metadata.namespace}`,
      ),
    ],
  };
};
