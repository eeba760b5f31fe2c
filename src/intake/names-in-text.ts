import type { Alert } from '../domain/alert.ts';

/** An object that an alert's words may name. A claim to check against real objects, never a fact. */
export interface NameCandidate {
  kind?: string;
  namespace?: string;
  name: string;
}

const kinds: Record<string, string> = {
  pod: 'Pod',
  deployment: 'Deployment',
  statefulset: 'StatefulSet',
  daemonset: 'DaemonSet',
  job: 'Job',
  cronjob: 'CronJob',
  service: 'Service',
  hpa: 'HorizontalPodAutoscaler',
  pvc: 'PersistentVolumeClaim',
  persistentvolumeclaim: 'PersistentVolumeClaim',
  ingress: 'Ingress',
  node: 'Node',
  nodepool: 'NodePool',
};

const label = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const qualified = new RegExp(
  `(?:\\b([A-Za-z]+) )?(?<![\\w./:-])(${label})/(${label}(?:\\.${label})*)(?![\\w/:-]|\\.\\w)`,
  'g',
);
const afterKind = new RegExp(`\\b(${Object.keys(kinds).join('|')}) "?(${label}(?:\\.${label})*)"?(?![\\w/:-])`, 'gi');
/** A word with a hyphen is hardly prose where the namespace is known: `payment-orchestrator returns 5xx`. */
const hyphenated = /(?<![\w./:-])([a-z][a-z0-9]*(?:-[a-z0-9]+)+)(?![\w./:-]\S|\/)/g;

const withoutAddresses = (text: string): string => text.replace(/(?<![\w+.-])[a-z][a-z+.-]*:\/\/\S+/gi, ' ');

const hasLetter = (text: string): boolean => /[a-z]/.test(text);

/**
 * Objects that summary, description and message may name, likeliest first: `namespace/name` pairs in the alert's own
 * namespace, other pairs, names after a kind, hyphenated words that no label tells. Addresses and label keys are left out.
 */
export const namesInText = ({ labels, annotations }: Pick<Alert, 'labels' | 'annotations'>): NameCandidate[] => {
  const texts = ['description', 'summary', 'message'].map((key) => annotations[key] ?? '');
  const text = withoutAddresses(texts.join('\n'));
  const home = labels.exported_namespace ?? labels.namespace;
  const pairs = [...text.matchAll(qualified)]
    .filter(([, , namespace = '', name = '']) => hasLetter(namespace) && hasLetter(name))
    .map(([, word = '', namespace = '', name = '']) => ({ kind: kinds[word.toLowerCase()], namespace, name }));
  const named = [...text.matchAll(afterKind)]
    .filter(([, , name = '']) => name.length > 2 && /[-.\d]/.test(name))
    .map(([, word = '', name = '']) => ({ kind: kinds[word.toLowerCase()], namespace: home, name }));
  const told = new Set(Object.values(labels));
  const words = [...text.matchAll(hyphenated)]
    .filter(([, name = '']) => home && !told.has(name) && !name.startsWith('non-'))
    .map(([, name = '']) => ({ namespace: home, name }));
  const atHome = pairs.filter((pair) => pair.namespace === home);
  const seen = new Set<string>();
  return [...atHome, ...pairs, ...named, ...words].filter(({ namespace, name }) => {
    const key = `${namespace}/${name}`;
    return !seen.has(key) && seen.add(key);
  });
};
