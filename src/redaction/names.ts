const keyOwners =
  'api|app|access|account|shared|private|signing|signature|encryption|encrypt|master|storage|service|auth|license|client|routing|integration|ssh|session|hmac|jwt|deploy|admin';

/** Words in the name of a variable, key, flag or header whose value is a secret. Global: for scanning a text. */
export const secretWords = new RegExp(
  [
    'pass(?:word|wd|phrase|code)|pwd|secret(?!ar)|token(?!s|iz)|credential|connection[-_]?string|dockercfg|dockerconfigjson',
    `(?:${keyOwners})[-_. ]?key`,
    // DB_PASS, pass=, REDIS_AUTH, FERNET_KEY: words too common to be told by alone; the value has to agree.
    '(?<![a-z])pass(?![a-z])',
    '(?<=[a-z0-9][-_])(?:auth|key)(?![-_a-z])',
  ].join('|'),
  'gi',
);

const secretWord = new RegExp(secretWords, 'i');

/** Names of headers that are secrets as a whole; as words they are too common to be told by. */
const secretHeader = /^(?:(?:proxy-)?authorization|(?:set-)?cookie)$/i;

/** Last word of a name that speaks about a secret without holding it: a path, a reference, a duration, a number. */
const aboutSecret = new RegExp(
  `(?:^|[-_./]|(?<=[a-z0-9])(?=[A-Z]))(?:${[
    'names?|files?|paths?|dir|refs?|reference|ids?|arn|uri|url|endpoint|host|hostname|port|domain|namespace|owner',
    'ttl|expir[a-z]{1,5}|seconds|minutes|hours|ms|timeout|duration|lifetime|age|at|interval|rotation',
    'length|len|size|count|limit|quota|total|rate|bucket|budget|usage|used|enabled|disabled|required|allowed',
    'policy|version|type|kind|class|mode|method|format|algorithm|alg|spec|template|selector|prefix|header|source|process',
    'volume|mount|store|provider|issuer|audiences?|cache|controller|manager|operator|driver|reviews?|requests?',
    'projection|status|state|reason|errors?|message',
  ].join('|')})$`,
  'i',
);

/** Names with a secret word that are known to be none: paging and idempotency tokens, fields of the Kubernetes API. */
const notSecret =
  /^(?:(?:next|client|continue|continuation|pagination|idempotency|resume|page|cancellation)[-_]?token|serviceaccounttoken|automountserviceaccounttoken|imagepullsecrets?|secrets|checksum\/.*)$/i;

const isPath = (name: string): boolean => /^[./]|\/.*\//.test(name);

export const isSecretName = (name: string): boolean => {
  if (name.length > 128) return false;
  if (secretHeader.test(name)) return true;
  return secretWord.test(name) && !aboutSecret.test(name) && !notSecret.test(name) && !isPath(name);
};

/** `$(VAR)`, `${VAR}`, `<password>`, `***`: a place for a secret, not one. */
export const isPlaceholder = (value: string): boolean =>
  /^(?:\$[({A-Za-z_].*|\{\{.*|<[\w .-]*>?|%\(?\w+\)?[s%]|[*x•]{3,}|\.{3}|REDACTED|masked)$/s.test(value);

const noValue =
  /^(?:true|false|null|nil|none|undefined|unset|empty|<nil>|enabled|disabled|default|required|optional|map\[.*)$/i;
const digest = /^(?:sha(?:1|256|512)[:-]|ssh-(?:rsa|ed25519) |ecdsa-)/;
/** `namespace/name` as klog names a Secret, or a path in Vault. */
const objectPath = /^[a-z0-9][a-z0-9.-]*(?:\/[a-z0-9][a-z0-9._-]*)+$/;

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const isRandom = (value: string): boolean =>
  /^[A-Za-z0-9+/=_-]{16,}$/.test(value) &&
  !uuid.test(value) &&
  (/^[0-9a-f]{32,}$/i.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)));

/** Names that promise little: whether the value looks like a secret decides. */
const fitsWeakName = (name: string, value: string): boolean => {
  if (/(?:^|[-_./])pass$/i.test(name)) return !/^\d{1,5}$/.test(value);
  if (/[-_]auth$/i.test(name)) return /[\d:]/.test(value);
  const isNamedKey = new RegExp(`(?:${keyOwners})[-_. ]?key$`, 'i').test(name);
  return !/[-_]key$/i.test(name) || isNamedKey || isRandom(value);
};

/** Whether the value of a secret-looking name can be one: not a flag, an empty string, a reference or a digest. */
export const isSecretValue = (name: string, value: string): boolean => {
  const trimmed = value.trim();
  if (trimmed.length < 3) return /passw|pwd/i.test(name) && trimmed !== '';
  if (noValue.test(trimmed) || isPlaceholder(trimmed) || digest.test(trimmed)) return false;
  // RabbitMQ's routing keys are topics; PagerDuty's and Datadog's are 32 characters.
  if (/(?:routing|integration|service)[-_. ]?key$/i.test(name)) return /^[A-Za-z0-9-]{20,}$/.test(trimmed);
  if (/secret/i.test(name) && objectPath.test(trimmed)) return false;
  return fitsWeakName(name, trimmed);
};

/** The tag's kind: what sort of secret the name promises. */
export const kindOfName = (name: string): string => {
  if (/pass|pwd/i.test(name)) return 'password';
  if (/token/i.test(name)) return 'token';
  if (/key/i.test(name)) return 'key';
  return 'secret';
};
