/** What sentences count, in the plural that their templates write. */
const counted: Record<string, string> = {
  pods: 'pod',
  nodes: 'node',
  replicas: 'replica',
  launches: 'launch',
  restarts: 'restart',
  volumes: 'volume',
  claims: 'claim',
  containers: 'container',
  times: 'time',
  pulls: 'pull',
  lookups: 'lookup',
  checks: 'check',
  errors: 'error',
  requests: 'request',
  objects: 'object',
  alerts: 'alert',
  instances: 'instance',
  subnets: 'subnet',
  workloads: 'workload',
  namespaces: 'namespace',
  zones: 'zone',
  autoscalers: 'autoscaler',
  pools: 'pool',
  slots: 'slot',
  placeholders: 'placeholder',
  children: 'child',
  endpoints: 'endpoint',
  addresses: 'address',
  events: 'event',
  jobs: 'job',
  runs: 'run',
  images: 'image',
  targets: 'target',
  installations: 'installation',
  interfaces: 'interface',
  periods: 'period',
  days: 'day',
  kills: 'kill',
};

const ofOne: Record<string, string> = {
  are: 'is',
  were: 'was',
  have: 'has',
  do: 'does',
  go: 'goes',
  carry: 'carries',
  ...Object.fromEntries(
    ['wait', 'run', 'fail', 'hold', 'fit', 'find', 'need', 'share', 'lack', 'work', 'stop', 'ask', 'sit', 'show'].map(
      (verb) => [verb, `${verb}s`],
    ),
  ),
};

/** Between number and noun stand adjectives alone: past these words another phrase has begun. */
const notAdjective = [
  ...['and', 'or', 'of', 'in', 'on', 'at', 'to', 'its', 'the', 'their', 'whose', 'that', 'which', 'from', 'for'],
  ...['by', 'per', 'with', 'a', 'no', 'is', 'was', 'has', 'min', 's', 'h', ...Object.values(counted)],
].join('|');

const nouns = Object.keys(counted).join('|');
const verbs = Object.keys(ofOne).join('|');
const onlyOne = new RegExp(
  `(?<![\\w./:,-])1 ((?:(?!(?:${notAdjective}) )[a-z]+(?:-[a-z]+)? ){0,3}?)(${nouns})\\b(?: (still |all |also |now )?(${verbs})\\b)?`,
  'g',
);
const isoTime = /\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z(?![\w-])/g;
/** What is quoted or marked as code is the machine's, and stays as it is. */
const quoted = /("[^"]*"|“[^”]*”|`[^`]*`)/;

/**
 * A sentence as people write it: one thing is counted in the singular (`1 pods wait` becomes `1 pod waits`), and a time
 * is a date and a clock with its zone. Rules count and date in one template, whatever the number turns out to be.
 */
export const worded = (sentence: string): string =>
  sentence
    .split(quoted)
    .map((piece, index) => (index % 2 === 1 ? piece : asWritten(piece)))
    .join('');

const asWritten = (piece: string): string =>
  piece
    .replace(isoTime, '$1 $2 UTC')
    .replace(onlyOne, (_, adjectives: string, noun: string, adverb: string | undefined, verb: string | undefined) => {
      const one = `1 ${adjectives}${counted[noun]}`;
      if (!verb) return one;
      // "…, 1 launch all sit there" ends a list, which is many.
      return adverb === 'all ' ? `${one} all ${verb}` : `${one} ${adverb ?? ''}${ofOne[verb]}`;
    });

/** `1 pod`, `3 pods`. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;
