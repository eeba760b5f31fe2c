import { describe, expect, it } from 'vitest';
import { describeProblem, loadConfig } from '../../src/config/load.ts';

const files = (contents: Record<string, string>) => (path: string) => {
  const text = contents[path];
  if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
  return text;
};
const load = (yaml: string, env: Record<string, string> = {}, more: Record<string, string> = {}) =>
  loadConfig(
    { FAULTLINE_CONFIG: '/etc/faultline/faultline.yaml', ...env },
    files({ '/etc/faultline/faultline.yaml': yaml, ...more }),
  );
const config = (...parameters: Parameters<typeof load>) => {
  const loaded = load(...parameters);
  if (!loaded.ok) throw new Error(loaded.problems.map(describeProblem).join('\n'));
  return loaded.config;
};
const problems = (...parameters: Parameters<typeof load>) => {
  const loaded = load(...parameters);
  return loaded.ok ? [] : loaded.problems;
};

describe('loadConfig', () => {
  it('starts with nothing set and no file', () => {
    const loaded = loadConfig({}, files({}));
    expect(loaded).toMatchObject({ ok: true, config: { server: { port: 3000, host: '127.0.0.1' }, clusters: [] } });
  });

  it('reads ./faultline.yaml when it is there', () => {
    expect(loadConfig({}, files({ 'faultline.yaml': 'server: {port: 4000}' }))).toMatchObject({
      config: { server: { port: 4000 } },
    });
  });

  it('lets the environment win over the file, setting by setting', () => {
    const { server, clusterLabels, clusters, slack } = config(
      'server: {port: 4000, host: 0.0.0.0}\nclusters: [{name: a, inCluster: true}]',
      {
        PORT: '5000',
        FAULTLINE_CLUSTER_LABELS: 'cluster, env',
        FAULTLINE_CLUSTERS: '[{name: b, context: b}]',
        SLACK_CHANNEL: '#b: c',
      },
    );
    expect(server).toEqual({ port: 5000, host: '0.0.0.0' });
    expect(clusterLabels).toEqual(['cluster', 'env']);
    expect(clusters).toMatchObject([{ name: 'b', context: 'b', mode: 'observe', aliases: [] }]);
    expect(slack.channel).toBe('#b: c');
  });

  it('takes an empty variable and an empty key as unset', () => {
    expect(config('databaseUrl:\nslack:\n', { REDIS_URL: '', PORT: '' })).toMatchObject({ server: { port: 3000 } });
  });

  it('places paths of the file beside the file and those of the environment where they say', () => {
    const yaml = 'ownersDir: owners\ndataDir: /srv/data\nclusters: [{name: a, kubeconfig: ~/.kube/config}]';
    const loaded = config(yaml, { HOME: '/home/op', DATA_DIR: 'elsewhere' });
    expect(loaded).toMatchObject({ ownersDir: '/etc/faultline/owners', dataDir: 'elsewhere' });
    expect(loaded.clusters[0]?.kubeconfig).toBe('/home/op/.kube/config');
  });

  it.each([
    ['a variable that names a file', '', { DATABASE_URL_FILE: '/run/db' }],
    ['a key that names a file', 'databaseUrlFile: secrets/db', {}],
  ])('reads a secret by %s', (_, yaml, env) => {
    const file = 'postgres://faultline:pa55@db/faultline\n';
    const loaded = config(yaml, env, { '/run/db': file, '/etc/faultline/secrets/db': file });
    expect(loaded.databaseUrl?.reveal()).toBe('postgres://faultline:pa55@db/faultline');
  });

  it('reads how a Prometheus and a Loki are asked, by file and by variable', () => {
    const yaml = `prometheusAuth: {username: me}
clusters:
  - {name: a, context: a, prometheusAuth: {bearerTokenFile: token, caFile: ca.pem}, loki: {url: http://loki, passwordFile: token, username: u}}`;
    const env = { PROMETHEUS_PASSWORD: 'pw', PROMETHEUS_TENANT: 'eu' };
    const { prometheusAuth, clusters } = config(yaml, env, { '/etc/faultline/token': 'abc\n' });
    expect([prometheusAuth.username, prometheusAuth.password?.reveal(), prometheusAuth.tenant]).toEqual([
      'me',
      'pw',
      'eu',
    ]);
    const [{ prometheusAuth: own, loki }] = clusters as [(typeof clusters)[0]];
    expect([own?.bearerToken?.reveal(), own?.caFile]).toEqual(['abc', '/etc/faultline/ca.pem']);
    expect([loki?.password?.reveal(), loki?.labels.pod, loki?.matchers]).toEqual(['abc', 'pod', []]);
  });

  it.each([
    ['prometheusAuth: {username: me}', 'prometheusAuth', 'a username alone'],
    ['prometheusAuth: {sigv4: true, bearerToken: abc}', 'prometheusAuth', 'sigv4 beside a bearerToken'],
    ['clusters: [{name: a, context: a, cloudWatchLogs: true}]', 'clusters[0].region', 'nothing'],
    ['clusters: [{name: a, context: a, cloudWatchLogGroup: g}]', 'clusters[0].cloudWatchLogGroup', 'a group alone'],
    [
      'clusters: [{name: a, context: a, region: r, cloudWatchLogs: true, loki: {url: http://loki}}]',
      'clusters[0]',
      'loki and cloudWatchLogs',
    ],
    [
      'clusters: [{name: a, context: a, loki: {url: http://loki, matchers: [cluster=prod]}}]',
      'clusters[0].loki.matchers[0]',
      '"cluster=prod"',
    ],
  ])('refuses %s', (yaml, key, found) => {
    expect(problems(yaml)).toContainEqual(expect.objectContaining({ key, found }));
  });

  it('reads tokens of a list by file', () => {
    const yaml = 'webhooks: {tokens: [{name: eu, tokenFile: /run/eu}]}';
    expect(config(yaml, {}, { '/run/eu': 'abc\n' }).webhooks.tokens[0]?.token.reveal()).toBe('abc');
    const env = { FAULTLINE_WEBHOOK_TOKENS_FILE: '/run/all' };
    expect(config('', env, { '/run/all': '[{name: eu, token: abc}]' }).webhooks.tokens[0]?.name).toBe('eu');
  });
});

/** Each line unfolds to nine times the one before. */
const bomb = ['a', ...'bcdefghi']
  .map((name, index) => {
    const before = String.fromCharCode(96 + index);
    return `${name}: &${name} [${Array(9)
      .fill(index === 0 ? 'x' : `*${before}`)
      .join(', ')}]`;
  })
  .join('\n');

// One bad configuration per mistake: [what is wrong, file, environment, key, found, allowed].
const mistakes: [string, string, Record<string, string>, RegExp, RegExp, RegExp][] = [
  ['an unknown key', 'sever: {port: 1}', {}, /^sever$/, /unknown key/, /server, dataDir/],
  ['an unknown nested key', 'slack: {tokn: x}', {}, /^slack\.tokn$/, /unknown key/, /botToken/],
  [
    'an unknown key of a cluster',
    'clusters: [{name: a, inCluster: true, zone: x}]',
    {},
    /clusters\[0\]\.zone/,
    /unknown/,
    /region/,
  ],
  ['a port that is no number', '', { PORT: 'http' }, /server\.port \(PORT\)/, /"http"/, /0 .* to 65535/],
  ['a port out of range', 'server: {port: 70000}', {}, /server\.port/, /70000/, /65535/],
  ['a number in quotes', "retentionDays: '90'", {}, /retentionDays/, /"90"/, /1 to 3650/],
  ['a language nobody wrote', 'language: fr', {}, /language/, /"fr"/, /en, zh-CN/],
  [
    'a mode that is none',
    'clusters: [{name: a, inCluster: true, mode: loud}]',
    {},
    /clusters\[0\]\.mode/,
    /"loud"/,
    /observe, post, page/,
  ],
  [
    'a provider that is none',
    'clusters: [{name: a, inCluster: true, provider: aws}]',
    {},
    /provider/,
    /"aws"/,
    /eks, eks-auto/,
  ],
  [
    'an account without quotes',
    'clusters: [{name: a, inCluster: true, account: 012345678901}]',
    {},
    /account/,
    /12345678901/,
    /quoted/,
  ],
  ['a cluster without a name', 'clusters: [{inCluster: true}]', {}, /clusters\[0\]\.name/, /nothing/, /a name/],
  ['a cluster that cannot be reached', 'clusters: [{name: a}]', {}, /clusters\[0\]/, /no way/, /exactly one of/],
  [
    'a cluster with two ways',
    'clusters: [{name: a, context: a, snapshot: ./a}]',
    {},
    /clusters\[0\]/,
    /context and snapshot/,
    /exactly one of/,
  ],
  [
    'two clusters around one pod',
    'clusters: [{name: a, inCluster: true}, {name: b, inCluster: true}]',
    {},
    /clusters\[1\]\.inCluster/,
    /second/,
    /one cluster only/,
  ],
  [
    'a name twice',
    'clusters: [{name: a, context: a}, {name: a, context: b}]',
    {},
    /clusters\[1\]/,
    /"a", also of clusters\[0\]/,
    /once/,
  ],
  [
    'an alias that is a name',
    'clusters: [{name: a, context: a}, {name: b, context: b, aliases: [a]}]',
    {},
    /clusters\[1\]/,
    /"a"/,
    /once/,
  ],
  [
    'a default cluster nobody listed',
    'clusters: [{name: a, context: a}]',
    { FAULTLINE_DEFAULT_CLUSTER: 'b' },
    /defaultCluster/,
    /"b"/,
    /one of a/,
  ],
  ['clusters that are no list', 'clusters: {a: {}}', {}, /clusters/, /\{"a":\{\}\}/, /list of clusters/],
  [
    'a bot token alone',
    'slack: {botToken: xoxb-1}',
    {},
    /^slack$/,
    /alone/,
    /SLACK_APP_TOKEN .* or SLACK_SIGNING_SECRET/,
  ],
  ['an app token alone', 'slack: {appToken: xapp-1}', {}, /slack\.botToken/, /nothing/, /bot token/],
  [
    'tokens swapped',
    '',
    { SLACK_BOT_TOKEN: 'xapp-1', SLACK_SIGNING_SECRET: 's' },
    /SLACK_BOT_TOKEN/,
    /\[redacted\]/,
    /xoxb-/,
  ],
  [
    'a database of another kind',
    '',
    { DATABASE_URL: 'mysql://u:hunter2@db/x' },
    /DATABASE_URL/,
    /\[redacted\]/,
    /postgres:\/\//,
  ],
  ['a Redis address without scheme', 'redisUrl: localhost:6379', {}, /redisUrl/, /\[redacted\]/, /redis:\/\//],
  [
    'a password in an address',
    'prometheusUrl: http://me:hunter2@p',
    {},
    /PROMETHEUS_URL/,
    /http:\/\/\[redacted\]@p/,
    /without user/,
  ],
  ['no address at all', '', { PROMETHEUS_URL: 'prometheus:9090' }, /PROMETHEUS_URL/, /prometheus:9090/, /http:\/\//],
  [
    'a webhook token with spaces',
    '',
    { ALERTMANAGER_WEBHOOK_TOKEN: 'a hunter2' },
    /ALERTMANAGER_WEBHOOK_TOKEN/,
    /\[redacted\]/,
    /without spaces/,
  ],
  [
    'one token in two entries',
    'webhooks: {alertmanagerToken: t, tokens: [{name: a, token: t}]}',
    {},
    /tokens\[0\]\.token/,
    /another entry/,
    /its own/,
  ],
  [
    'one token name twice',
    'webhooks: {tokens: [{name: a, token: t}, {name: a, token: u}]}',
    {},
    /tokens\[1\]\.name/,
    /"a" a second time/,
    /once/,
  ],
  [
    'a token for an unknown cluster',
    'clusters: [{name: a, context: a}]\nwebhooks: {tokens: [{name: t, token: t, clusters: [b]}]}',
    {},
    /clusters\[0\]/,
    /"b"/,
    /one of a/,
  ],
  [
    'a secret twice',
    'redisUrl: redis://a\nredisUrlFile: /run/r',
    {},
    /redisUrlFile/,
    /redisUrlFile and redisUrl/,
    /one of the two/,
  ],
  [
    'a variable twice',
    '',
    { REDIS_URL: 'redis://a', REDIS_URL_FILE: '/run/r' },
    /REDIS_URL/,
    /REDIS_URL_FILE/,
    /one of the two/,
  ],
  [
    'a secret file that is absent',
    '',
    { REDIS_URL_FILE: '/run/none' },
    /REDIS_URL_FILE/,
    /\/run\/none \(ENOENT\)/,
    /can read/,
  ],
  ['no mapping', '- a', {}, /faultline\.yaml/, /no mapping/, /key: value/],
  ['broken YAML', 'server: {port: 1', {}, /faultline\.yaml line 1/, /BAD|MISSING|UNEXPECTED/, /valid YAML/],
  ['a key twice', 'dataDir: a\ndataDir: b', {}, /faultline\.yaml line 2/, /DUPLICATE_KEY/, /valid YAML/],
  ['an alias of nothing', 'slack: {channel: *incidents}', {}, /faultline\.yaml/, /alias/, /quote/],
  ['aliases that unfold without end', bomb, {}, /faultline\.yaml/, /unfold without end/, /valid YAML/],
  ['a key that every object has', 'constructor: 1', {}, /constructor/, /unknown key/, /clusters/],
  [
    'a key that every object inherits',
    'slack: {__proto__: {botToken: x}}',
    {},
    /slack\.__proto__/,
    /unknown key/,
    /channel/,
  ],
  [
    'a configuration file that is absent',
    '',
    { FAULTLINE_CONFIG: '/none.yaml' },
    /FAULTLINE_CONFIG/,
    /none.yaml \(ENOENT\)/,
    /can read/,
  ],
];

describe('a mistake is named with its key, what was found and what is allowed', () => {
  it.each(mistakes)('%s', (_, yaml, env, key, found, allowed) => {
    const found_ = problems(yaml, env).filter((problem) => key.test(problem.key) && found.test(problem.found));
    expect(found_.map((problem) => problem.allowed)).toEqual([expect.stringMatching(allowed)]);
  });

  it('lists all of them at once', () => {
    const yaml = 'server: {port: x}\nclusters: [{name: a}]\nslack: {botToken: xoxb-1}\nbogus: 1';
    expect(problems(yaml, { LOG_LEVEL: 'loud' }).map((problem) => problem.key)).toEqual(
      expect.arrayContaining(['server.port (PORT)', 'clusters[0]', 'slack', 'bogus', 'logLevel (LOG_LEVEL)']),
    );
  });

  it('never prints a secret, wherever it was put', () => {
    const yaml =
      'slack: hunter2\nwebhooks: {tokens: [hunter2, {token: hunter2}]}\nredisUrl: hunter2\ndatabaseUrl: [hunter2]';
    const listed = problems(yaml, { ALERTMANAGER_WEBHOOK_TOKEN: 'hunter2 hunter2', FAULTLINE_HOST: '' });
    expect(listed.length).toBeGreaterThan(4);
    expect(listed.map(describeProblem).join('\n')).not.toContain('hunter2');
  });
});
