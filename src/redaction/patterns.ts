import { isPlaceholder } from './names.ts';
import type { Span } from './span.ts';

/**
 * A secret recognisable by its own shape. What the group `keep` matched stays; the rest of the match is the secret.
 * Every quantifier is bounded or meets a character its neighbour excludes, so that the time is linear in the text.
 */
interface Pattern {
  kind: string;
  regex: RegExp;
  /** Literal without which the regex cannot match: spares most texts the regex. */
  hint?: string;
  accept?: (secret: string) => boolean;
}

const hasDigit = (secret: string): boolean => /\d/.test(secret);
const isMixed = (secret: string): boolean => /[A-Z]/.test(secret) && /[a-z]/.test(secret) && /\d/.test(secret);
const isReal = (secret: string): boolean => !isPlaceholder(secret);

const database = 'postgres(?:ql)?|mysqlx?|mariadb|mongodb|rediss?|amqps?|clickhouse|sqlserver|mssql|nats|kafka|ldaps?';

export const patterns: Pattern[] = [
  // Keys in PEM, on one line or many, with `\n` escaped or not, cut short or not.
  {
    kind: 'private-key',
    hint: 'PRIVATE KEY',
    regex:
      /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-(?!----)){0,20000}-----END [A-Z0-9 ]{0,30}-----|(?:(?:\s|\\+[nr])+[A-Za-z0-9+/=]{16,})*)/g,
  },
  { kind: 'private-key', hint: 'PuTTY-User-Key', regex: /PuTTY-User-Key-File-\d[\s\S]*?(?:Private-MAC: \w+|$)/g },
  { kind: 'private-key', hint: 'AGE-SECRET-KEY-', regex: /AGE-SECRET-KEY-1[0-9A-Z]{40,80}/g },
  // Base64 of a PEM block that is not a certificate: a kubeconfig's client-key-data, a copied Secret.
  {
    kind: 'private-key',
    hint: 'LS0tLS1CRUdJTi',
    regex: /LS0tLS1CRUdJTi(?!BDRVJU|BQVUJMSU|BUUlVTVEV)[A-Za-z0-9+/]{24,}={0,2}/g,
  },
  { kind: 'jwt', hint: 'eyJ', regex: /(?<![A-Za-z0-9_-])eyJ[\w-]{10,}(?:\.[\w-]*){2,4}/g },
  {
    kind: 'aws-access-key-id',
    regex: /(?<![A-Za-z0-9])(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  // The secret half rarely has a name of its own when both are pasted side by side.
  {
    kind: 'aws-secret-key',
    regex: /(?<keep>(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+=\n]{1,40})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g,
  },
  { kind: 'aws-session-token', regex: /(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9/+=%]{40,}/g },
  { kind: 'eks-token', hint: 'k8s-aws-v1.', regex: /k8s-aws-v1\.[\w-]{20,}={0,2}/g },
  { kind: 'gcp-api-key', hint: 'AIza', regex: /(?<![A-Za-z0-9_-])AIza[\w-]{35}/g },
  { kind: 'gcp-token', hint: 'ya29.', regex: /(?<![A-Za-z0-9_-])ya29\.[\w.-]{20,}/g },
  { kind: 'gcp-client-secret', hint: 'GOCSPX-', regex: /GOCSPX-[\w-]{20,40}/g },
  {
    kind: 'azure-client-secret',
    hint: 'Q~',
    regex: /(?<![\w~.-])[A-Za-z0-9_.~-]{3}\dQ~[A-Za-z0-9_.~-]{31,34}(?![\w~.-])/g,
  },
  // 64 random bytes; the minus excludes a `sha512-…` integrity value.
  {
    kind: 'azure-storage-key',
    hint: '==',
    regex: /(?<![A-Za-z0-9+/=-])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])/g,
    accept: isMixed,
  },
  { kind: 'alibaba-access-key', hint: 'LTAI', regex: /(?<![A-Za-z0-9])LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])/g },
  { kind: 'tencent-secret-id', hint: 'AKID', regex: /(?<![A-Za-z0-9])AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])/g },
  { kind: 'github', hint: 'gh', regex: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,255}/g },
  { kind: 'gitlab', hint: 'gl', regex: /(?<![A-Za-z0-9])gl(?:dt|rt|ptt|cbt|soat|ft|agent|imt|oas)-[\w.-]{20,128}/g },
  { kind: 'slack', hint: 'xox', regex: /(?<![A-Za-z0-9])xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,255}/g },
  { kind: 'slack', hint: 'xapp-', regex: /(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{10,255}/g },
  { kind: 'pypi', hint: 'pypi-', regex: /(?<![A-Za-z0-9])pypi-[\w-]{50,}/g, accept: isMixed },
  { kind: 'sendgrid', hint: 'SG.', regex: /(?<![A-Za-z0-9])SG\.[\w-]{16,64}\.[\w-]{16,128}/g },
  {
    kind: 'stripe',
    hint: '_',
    regex: /(?<![A-Za-z0-9])(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,255}|(?<!\w)whsec_[\w+/=]{20,}/g,
  },
  { kind: 'api-key', hint: 'sk-', regex: /(?<![A-Za-z0-9-])sk-[\w-]{20,255}/g, accept: isMixed },
  { kind: 'vault', hint: 'hv', regex: /(?<![A-Za-z0-9])hv[sbr]\.[\w-]{20,}/g },
  { kind: 'digitalocean', hint: '_v1_', regex: /(?<!\w)do[opr]_v1_[a-f0-9]{64}/g },
  { kind: 'atlassian', hint: 'ATATT3', regex: /ATATT3[\w=-]{100,}/g },
  { kind: 'telegram', hint: ':AA', regex: /(?<!\d)\d{8,10}:AA[\w-]{32,35}/g },
  { kind: 'new-relic', hint: 'NRAK-', regex: /NRAK-[A-Z0-9]{27}/g },
  // Addresses that are secrets: whoever knows them may post.
  {
    kind: 'webhook-url',
    hint: 'hooks.slack',
    regex: /(?<keep>hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9/_-]{8,}/g,
  },
  {
    kind: 'webhook-url',
    hint: '/api/webhooks/',
    regex: /(?<keep>discord(?:app)?\.com\/api\/webhooks\/)\d{5,25}\/[\w-]{10,}/g,
  },
  {
    kind: 'webhook-url',
    hint: 'webhook',
    regex: /(?<keep>(?:\.webhook\.office\.com\/webhookb2|outlook\.office(?:365)?\.com\/webhook)\/)[^\s"'<>\\]{20,}/g,
  },
  {
    kind: 'webhook-url',
    hint: '/hook/',
    regex: /(?<keep>(?:feishu|larksuite)\.[a-z]{2,4}\/open-apis\/bot\/v\d\/hook\/)[\w-]{16,}/g,
  },
  // Passwords inside addresses. A database password may hold `/` and `@`; elsewhere `/` ends the authority.
  {
    kind: 'url-password',
    hint: '@',
    regex: new RegExp(
      `(?<keep>(?<![A-Za-z0-9])(?:${database})(?:\\+[a-z]{1,10})?://[^\\s:/@"'<>]{0,100}:)[^\\s"'<>,]{1,256}(?=@[A-Za-z0-9\\[_(])`,
      'gi',
    ),
    accept: isReal,
  },
  {
    kind: 'url-password',
    hint: '@',
    regex: /(?<keep>(?<=[A-Za-z0-9]):\/\/[^\s:/@"'<>?#]{0,256}:)[^\s/@"'<>?#]{1,256}(?=@)/g,
    accept: isReal,
  },
  // A token in the place of the user: https://TOKEN@github.com.
  {
    kind: 'url-password',
    hint: '@',
    regex: /(?<keep>(?<=https?):\/\/)[A-Za-z0-9_-]{20,256}(?=@)/g,
    accept: hasDigit,
  },
  {
    kind: 'url-password',
    hint: '@',
    regex: /(?<keep>(?<![\w.-])[\w.-]{1,64}:)[^\s@/:]{1,128}(?=@(?:tcp|unix|udp)\()/g,
    accept: isReal,
  },
  {
    kind: 'query-token',
    hint: '=',
    regex:
      /(?<keep>[?&](?:amp;)?(?:X-(?:Amz|Goog)-(?:Signature|Security-Token|Credential)|sig|signature|sign|AWSAccessKeyId)=)[^\s&"'<>\\#]{8,}/gi,
  },
  {
    kind: 'query-token',
    hint: '=',
    regex: /(?<keep>[?&](?:amp;)?(?:key|code|auth)=)[^\s&"'<>\\#]{16,}/gi,
    accept: hasDigit,
  },
  // HTTP headers, as curl, Go and Node print them.
  {
    kind: 'authorization',
    regex:
      /(?<keep>authorization\\{0,3}["']?\s{0,4}[:=]\s{0,4}\[?\s{0,4}\\{0,3}["']?(?:Bearer|Basic|Token|Negotiate|ApiKey|GenieKey|Splunk|DPoP)\s{1,4})[^\s"'\\\],;]+/gi,
    accept: isReal,
  },
  {
    kind: 'authorization',
    regex:
      /(?<keep>authorization\\{0,3}["']?\s{0,4}[:=]\s{0,4}\[?\s{0,4}\\{0,3}["']?(?:AWS4-HMAC-SHA256|Digest)\s{1,4})[^"'\\\]\n\r]+/gi,
  },
  {
    kind: 'authorization',
    regex: /(?<keep>\b(?:bearer|basic)\s{1,4}["']?)[\w.~+/-]{16,}={0,2}/gi,
    accept: hasDigit,
  },
  {
    kind: 'cookie',
    regex:
      /(?<keep>\bcookie\\{0,3}["']?\s{0,4}:\s{0,4}\[?\s{0,4}\\{0,3}["']?)[\w!#$%&*+.^`|~-]{1,128}=[^;\s"'\\\]]*(?:;\s?[\w-]{1,128}(?:=[^;\s"'\\\]]*)?){0,60}/gi,
  },
  { kind: 'cookie', hint: 'SESSI', regex: /(?<keep>\b(?:JSESSIONID|PHPSESSID|ASPSESSIONID\w{0,20})=)[^\s;,"'&]+/g },
  // Password hashes can be guessed offline.
  { kind: 'password-hash', hint: '$2', regex: /\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}/g },
  {
    kind: 'password-hash',
    hint: '$',
    regex: /\$(?:apr1|[156y]|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,10})\$[^\s"'`,:]{16,}/g,
  },
  { kind: 'password-hash', hint: '{S', regex: /\{(?:SHA|SSHA|SHA256|SHA512|SSHA512)\}[A-Za-z0-9+/]{20,}={0,2}/g },
  // Short options that carry a password for the commands that have them.
  {
    kind: 'password',
    hint: 'mysql',
    regex: /(?<keep>\bmysql(?:dump|admin|show)?\b[^\n|;]{0,200}?\s-p)[^\s"'-][^\s"']*/g,
    accept: isReal,
  },
  {
    kind: 'password',
    hint: 'curl',
    regex: /(?<keep>\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?["']?[^\s:"']{1,64}:)[^\s"']+/g,
    accept: isReal,
  },
  {
    kind: 'password',
    hint: 'redis-cli',
    regex: /(?<keep>\bredis-cli\b[^\n|;]{0,200}?\s-a\s{1,4}["']?)[^\s"']+/g,
    accept: isReal,
  },
  // Registry credentials in a docker config: base64 of user:password.
  {
    kind: 'registry-auth',
    hint: 'auth',
    regex:
      /(?<keep>(?<![\w-])auth\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?)[A-Za-z0-9+/]{8,}={0,2}(?=\\{0,3}["'\s,}]|$)/g,
    accept: (secret) => /^[\x20-\x39\x3b-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(secret, 'base64').toString('latin1')),
  },
];

export const patternSpans = (text: string): Span[] => {
  const spans: Span[] = [];
  for (const { kind, regex, hint, accept } of patterns) {
    if (hint && !text.includes(hint)) continue;
    for (const match of text.matchAll(regex)) {
      const start = match.index + (match.groups?.keep?.length ?? 0);
      const end = match.index + match[0].length;
      if (!accept || accept(text.slice(start, end))) spans.push({ start, end, kind });
    }
  }
  return spans;
};
