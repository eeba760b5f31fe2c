/** Secrets of every kind, made anew from a seed: none is written down here, so that no scanner takes them for real. */

export interface Planted {
  kind: string;
  /** What must not be found afterwards. */
  secret: string;
  /** The secret as it turns up in a line of text. */
  line: string;
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';
const alphanumeric = lower + upper + digits;

/** Mulberry32: small, seedable, good enough to make text. */
const randomFrom = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

export const makeSecrets = (seed: number): Planted[] => {
  const random = randomFrom(seed);
  const of = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  /** Mixed case and a digit, whatever the dice say. */
  const mixed = (length: number): string => `a7Q${of(alphanumeric, length - 3)}`;
  const hex = (length: number): string => of(`${digits}abcdef`, length);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const base64url = (text: string): string => Buffer.from(text).toString('base64url');
  const jwt = (): string => `${base64url('{"alg":"RS256"}')}.${base64url(`{"sub":"${of(lower, 12)}"}`)}.${mixed(60)}`;
  const pem = (type: string, newline: string): string =>
    [
      `-----BEGIN ${type}PRIVATE KEY-----`,
      `MII${mixed(61)}`,
      of(alphanumeric, 64),
      `-----END ${type}PRIVATE KEY-----`,
    ].join(newline);
  const one = (
    kind: string,
    secret: string,
    line = (value: string) => `level=info msg="using ${value} now"`,
  ): Planted => ({
    kind,
    secret,
    line: line(secret),
  });
  const body = (kind: string, type: string, newline: string): Planted => {
    const key = pem(type, newline);
    return { kind, secret: key.split(newline)[1]!, line: `loaded ${key} from disk` };
  };

  return [
    one('aws access key id', `AKIA${of(upper + digits, 16)}`),
    one('aws access key id', `ASIA${of(upper + digits, 16)}`, (id) => `InvalidClientTokenId: ${id} is not valid`),
    one('aws secret key', mixed(40), (key) => `aws_secret_access_key = ${key}`),
    one('aws secret key', mixed(40), (key) => `AWS_SECRET_ACCESS_KEY=${key} ./run`),
    one('aws secret key', mixed(40), (key) => `{"SecretAccessKey":"${key}","Expiration":"2026-11-20T08:30:00Z"}`),
    one('aws secret key', mixed(40), (key) => `AKIA${of(upper + digits, 16)}:${key}`),
    one('aws session token', `IQoJb3JpZ2lu${mixed(200)}`),
    one('aws session token', mixed(120), (token) => `export AWS_SESSION_TOKEN=${token}`),
    one('eks token', `k8s-aws-v1.${mixed(80)}`),
    one(
      'presigned url',
      hex(64),
      (signature) => `GET https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=${signature}`,
    ),
    one('gcp api key', `AIza${mixed(35)}`),
    one('gcp api key', `AIza${mixed(35)}`, (key) => `https://maps.googleapis.com/maps/api/js?key=${key}&v=3`),
    one('gcp oauth token', `ya29.${mixed(60)}`),
    one('gcp client secret', `GOCSPX-${mixed(28)}`),
    body('gcp service account key', '', '\\n'),
    one(
      'azure storage key',
      `${mixed(86)}==`,
      (key) => `DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=${key};EndpointSuffix=core.windows.net`,
    ),
    one('azure storage key', `${mixed(86)}==`),
    one(
      'azure sas',
      `${mixed(43)}%3D`,
      (sig) => `https://acc.blob.core.windows.net/c?sv=2024-11-04&se=2026-12-01&sp=r&sig=${sig}`,
    ),
    one(
      'azure service bus',
      `${mixed(43)}=`,
      (key) => `Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=${key}`,
    ),
    one('azure client secret', `${mixed(3)}8Q~${mixed(33)}`),
    one('alibaba access key', `LTAI${mixed(20)}`),
    one('alibaba access key', mixed(30), (secret) => `accessKeySecret: ${secret}`),
    one('github', `ghp_${mixed(36)}`),
    one('github', `ghs_${mixed(36)}`, (token) => `https://x-access-token:${token}@github.com/acme/app.git`),
    one('github', `github_pat_${mixed(82)}`),
    one('gitlab', `glpat-${mixed(20)}`),
    one('gitlab', `gldt-${mixed(20)}`),
    one('gitlab', mixed(24), (token) => `curl --header "PRIVATE-TOKEN: ${token}" https://gitlab.example.com`),
    one('slack', `xoxb-${of(digits, 12)}-${of(digits, 12)}-${mixed(24)}`),
    one('slack', `xapp-1-${of(upper, 11)}-${of(digits, 13)}-${hex(64)}`),
    one('npm', `npm_${mixed(36)}`),
    one('npm', mixed(36), (token) => `//registry.npmjs.org/:_authToken=${token}`),
    one('pypi', `pypi-${mixed(90)}`),
    one('stripe', `sk_live_${mixed(24)}`),
    one('stripe', `whsec_${mixed(32)}`),
    one('sendgrid', `SG.${mixed(22)}.${mixed(43)}`),
    one('openai', `sk-proj-${mixed(48)}`),
    one('openai', `sk-ant-api03-${mixed(60)}`),
    one('datadog', hex(32), (key) => `DD_API_KEY=${key}`),
    one('datadog', hex(40), (key) => `datadog: {"app_key": "${key}"}`),
    one('vault', `hvs.${mixed(24)}`),
    one('vault', mixed(26), (token) => `X-Vault-Token: ${token}`),
    one('jwt', jwt()),
    one('jwt', jwt(), (token) => `time=1 err="Unauthorized" token=${token} path=/api`),
    one('jwt', jwt(), (token) => `Authorization: Bearer ${token}`),
    body('pem', 'RSA ', '\n'),
    body('pem', 'EC ', '\\n'),
    body('pem', 'OPENSSH ', '\\\\n'),
    one(
      'pem',
      `MII${mixed(61)}`,
      (key) =>
        `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${hex(32)}\n\n${key}\n-----END RSA PRIVATE KEY-----`,
    ),
    one('pem', `MII${mixed(61)}`, (key) => `-----BEGIN PRIVATE KEY-----\n${key}`),
    one('kubeconfig', mixed(40), (token) => `users:\n- name: admin\n  user:\n    token: ${token}`),
    one('kubeconfig', base64(pem('RSA ', '\n')), (key) => `    client-key-data: ${key}`),
    one('connection string', mixed(18), (p) => `postgres://app:${p}@db.prod.svc:5432/orders?sslmode=require`),
    one('connection string', `${mixed(8)}/${mixed(6)}`, (p) => `postgresql://app:${p}@10.0.0.1/orders`),
    one('connection string', `${mixed(8)}@${mixed(6)}`, (p) => `dial mysql://root:${p}@db:3306/x failed`),
    one('connection string', mixed(18), (p) => `mongodb+srv://app:${p}@c0.example.mongodb.net/?retryWrites=true`),
    one('connection string', mixed(18), (p) => `redis://:${p}@cache:6379/0`),
    one('connection string', mixed(18), (p) => `amqps://svc:${p}@mq.internal/vhost`),
    one('connection string', mixed(18), (p) => `app:${p}@tcp(10.2.3.4:3306)/orders?parseTime=true`),
    one('connection string', mixed(18), (p) => `jdbc:postgresql://db:5432/x?user=app&password=${p}&ssl=true`),
    one('connection string', mixed(18), (p) => `Server=sql;Database=x;User Id=sa;Password=${p};Encrypt=true`),
    one('connection string', mixed(18), (p) => `host=db user=app password=${p} dbname=orders`),
    one('connection string', mixed(18), (p) => `host=db user=app password='${p} with spaces' dbname=orders`),
    one('basic auth url', mixed(16), (p) => `pull https://robot:${p}@registry.example.com/v2/ failed`),
    one('basic auth url', mixed(16), (p) => `https://robot%24ci:${p}@nexus.example.com:8443/repo`),
    one('basic auth url', mixed(40), (token) => `fatal: could not read from https://${token}@github.com/acme/app`),
    one('authorization', base64(`user:${mixed(12)}`), (value) => `> Authorization: Basic ${value}`),
    one('authorization', mixed(32), (value) => `{"headers":{"Authorization":["Bearer ${value}"]}}`),
    one('authorization', mixed(32), (value) => `req headers map[authorization:Token ${value}]`),
    one('authorization', mixed(32), (value) => `sent with bearer ${value}`),
    one('cookie', mixed(32), (value) => `Cookie: theme=dark; session=${value}`),
    one('cookie', mixed(32), (value) => `"set-cookie": ["sid=${value}; Path=/; HttpOnly"]`),
    one(
      'webhook',
      mixed(24),
      (value) => `https://hooks.slack.com/services/T0${of(upper, 8)}/B0${of(upper, 8)}/${value}`,
    ),
    one('webhook', mixed(60), (value) => `https://discord.com/api/webhooks/${of(digits, 18)}/${value}`),
    one(
      'webhook',
      hex(32),
      (value) => `https://acme.webhook.office.com/webhookb2/${hex(8)}@${hex(8)}/IncomingWebhook/${value}/x`,
    ),
    one('webhook', hex(64), (value) => `https://oapi.dingtalk.com/robot/send?access_token=${value}`),
    one('environment', mixed(14), (value) => `DB_PASSWORD=${value}`),
    one('environment', mixed(14), (value) => `PGPASSWORD="${value}" psql`),
    one('environment', `${mixed(8)},;${mixed(6)}`, (value) => `ADMIN_PASSWORD=${value} exec app`),
    one('environment', mixed(14), (value) => `SECRET_KEY_BASE=${value}`),
    one('environment', mixed(14), (value) => `- name: SESSION_SECRET\n  value: ${value}`),
    one('environment', mixed(14), (value) => `{"name":"SMTP_PASSWORD","value":"${value}"}`),
    one('environment', mixed(14), (value) => `export SMTP_PASS=${value}`),
    one('environment', of(lower, 14), (value) => `user=app pass=${value} db=orders`),
    one('environment', `app:${mixed(14)}`, (value) => `ELASTIC_AUTH=${value}`),
    one('environment', mixed(32), (value) => `FERNET_KEY=${value}`),
    one('environment', hex(32), (value) => `SENDGRID_KEY: ${value}`),
    one('environment', mixed(14), (value) => `MYSQL_PWD=${value} mysql`),
    one('json', mixed(14), (value) => `{"user":"app","password":"${value}"}`),
    one('json', mixed(14), (value) => `payload="{\\"user\\":\\"app\\",\\"password\\":\\"${value}\\"}"`),
    one('json', `${mixed(6)}\\"${mixed(6)}`, (value) => `{"clientSecret": "${value}", "a": 1}`),
    one('yaml', of(lower, 14), (value) => `database:\n  user: app\n  password: ${value}\n  host: db`),
    one('yaml', mixed(14), (value) => `apiToken: '${value}'`),
    one('flag', mixed(14), (value) => `exec: app --db-password=${value} --port=80`),
    one('flag', mixed(14), (value) => `exec: app --token ${value} --port 80`),
    one('flag', mixed(14), (value) => `args: ["--client-secret","${value}"]`),
    one('flag', mixed(14), (value) => `mysqldump -h db -u root -p${value} orders`),
    one('flag', mixed(14), (value) => `curl -s -u admin:${value} https://es:9200`),
    one(
      'docker config',
      base64(`robot:${mixed(14)}`),
      (value) => `{"auths":{"registry.example.com":{"auth":"${value}"}}}`,
    ),
    one('password hash', `$2b$12$${mixed(53)}`),
    one('password hash', `$apr1$${mixed(8)}$${mixed(22)}`, (value) => `admin:${value}`),
    one('password hash', `{SHA}${mixed(27)}=`, (value) => `admin:${value}`),
    one('query token', mixed(20), (value) => `GET /v1/hook?id=3&api_key=${value}&x=1 401`),
    one('query token', mixed(20), (value) => `GET /cb?code=${value}`),
    one('query token', mixed(20), (value) => `ws://host/stream?access_token=${value}`),
    one(
      'secret manifest',
      base64(of(lower, 15)),
      (value) => `apiVersion: v1\nkind: Secret\ndata:\n  username: ${value}\ntype: Opaque`,
    ),
    one(
      'secret manifest',
      mixed(14),
      (value) => `kind: Secret\nstringData:\n  config: |\n    some ${value}\n    more\nmetadata: {}`,
    ),
  ];
};
