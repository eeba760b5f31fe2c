import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boundaries, layers, providers } from '../../src/domain/layer.ts';
import { text } from '../../src/domain/text.ts';
import { escalate, escalatorOf, packFolder } from '../../src/escalation/escalate.ts';
import { caseFacts, verdictOf } from '../routing/facts.ts';
import { factsOf, object } from '../rules/harness.ts';
import { evidence, hostFailure, inputOf } from './samples.ts';

const cluster = factsOf({ subject: { kind: 'Cluster' } });

describe('the cloud support request', () => {
  it('holds what AWS Support asks for, from the facts of a failed host', async () => {
    const facts = await caseFacts('node-silent-busy-solver');
    const pack = escalate(inputOf(facts, verdictOf(hostFailure)))!;
    expect(pack.audience).toBe('cloud');
    expect(pack.title).toBe(
      'CRITICAL: The host of i-098c8304c47aea3bc fails its system status check. (prod-usw2, us-west-2)',
    );
    for (const line of [
      'Request to: AWS Support',
      'Service code: amazon-elastic-compute-cloud-linux',
      'Severity suggestion: urgent (production system down)',
      'Impact: 1 of 6 nodes not Ready',
      'Began: 2026-11-20 08:11:20 UTC',
      'Cluster: prod-usw2 (eks 1.33, platform eks.21)',
      'Region: us-west-2',
      'Zones: us-west-2a',
      'Instances: i-098c8304c47aea3bc',
      'Request ids: 7b1f2c3d-1111-4222-8333-94445555aaaa',
      '1. Node ip-10-0-1-25.us-west-2.compute.internal (uid b9c0a872-d15e-41fd-a497-38dcc2eb1419): is silent',
      '- 2026-11-20 08:11:00 UTC ec2.describeInstanceStatus: i-098c8304c47aea3bc.SystemStatus: reachability failed',
      '  see it again: aws ec2 describe-instance-status --region us-west-2',
      '- platform: no pressure on the node, all add-on pods are ready',
      '- AWS Health can lag by hours',
      '- The state of the hosts and volumes named above since the onset, and the reason of the failure.',
    ]) {
      expect(pack.body).toContain(line);
    }
    expect(pack.body).toMatch(
      /- i-098c8304c47aea3bc = node ip-10-0-1-25\S+, m7a\.2xlarge, us-west-2a, image ami-\w+, kernel 6\.1\.141, .*Ready=Unknown since 2026-11-20T08:12:00Z/,
    );
  });

  it('lists what AWS will ask for and the evidence lacks', async () => {
    const facts = await caseFacts('node-silent-busy-solver');
    expect(escalate(inputOf(facts, verdictOf(hostFailure)))!.incomplete).toEqual([
      'the AWS account id: set account of cluster prod-usw2 in faultline.yaml',
      'the console output: aws ec2 get-console-output --latest --instance-id i-098c8304c47aea3bc',
      'a contact with time zone for the call-back',
      'app: the log of solver (grant get pods/log)',
    ]);
    const bare = verdictOf({ owner: 'cloud', boundary: 'zone' });
    const { incomplete } = escalate(inputOf(cluster, bare))!;
    for (const ask of [
      'when it began',
      'the impact',
      'the AWS account id',
      'the version',
      'ids of affected machines',
      'the zone id',
    ]) {
      expect(
        incomplete.some((line) => line.startsWith(ask)),
        ask,
      ).toBe(true);
    }
  });

  it('names zone ids and the account once an answer tells them', () => {
    const facts = factsOf({
      subject: { kind: 'Cluster' },
      objects: [
        object('Node', 'n1', {
          labels: { 'topology.kubernetes.io/zone': 'us-west-2a' },
          spec: { providerID: 'aws:///us-west-2a/i-0123456789abcdef0' },
        }),
      ],
      cloud: [
        {
          call: 'ec2.describeAvailabilityZones',
          answer: { AvailabilityZones: [{ ZoneName: 'us-west-2a', ZoneId: 'usw2-az2' }] },
        },
        {
          call: 'eks.describeCluster',
          answer: { cluster: { version: '1.33', arn: 'arn:aws:eks:us-west-2:123456789012:cluster/test' } },
        },
      ],
    });
    const zone = verdictOf({
      owner: 'cloud',
      boundary: 'zone',
      onset: '2026-11-20T08:00:00Z',
      impact: 'x',
      evidence: [evidence({ object: 'Node n1' })],
    });
    const pack = escalate(inputOf(facts, zone))!;
    expect(pack.body).toContain('Zones: us-west-2a = usw2-az2');
    expect(pack.body).toContain('Account: 123456789012');
    expect(pack.body).toContain('i-0123456789abcdef0 = node n1');
    expect(pack.incomplete).toEqual(['a contact with time zone for the call-back']);
  });

  it.each([
    ['eks', 'Service code: service-eks'],
    ['gke', 'Priority suggestion: P1'],
    ['aks', 'Severity suggestion: A (critical business impact)'],
    ['ack', 'Product: Container Service for Kubernetes'],
    ['self', 'The Kubernetes control plane is run by us'],
  ] as const)('%s has its own form', (provider, line) => {
    const facts = factsOf({ provider, subject: { kind: 'Cluster' } });
    expect(escalate(inputOf(facts, verdictOf({ owner: 'cloud', boundary: 'control-plane' })))!.body).toContain(line);
  });
});

describe('the platform handoff', () => {
  it('holds objects with uids, their conditions, who wrote them and what to do', async () => {
    const facts = await caseFacts('pool-limit-reached-quiet-ci');
    const nodeClass = facts.objects.find(({ kind }) => kind === 'EC2NodeClass')!;
    const verdict = verdictOf({
      owner: 'platform',
      boundary: 'provisioning',
      cause: text('Machines of NodePool ci never join.'),
      onset: '2026-11-20T07:52:00Z',
      impact: '9 runners wait',
      chain: [
        {
          object: `EC2NodeClass ${nodeClass.metadata.name}`,
          uid: nodeClass.metadata.uid!,
          claim: 'its user data never bootstraps',
        },
        { object: 'NodePool ci', claim: '9 unregistered' },
      ],
      nextSteps: [text('Add the bootstrap to the user data.')],
      contributing: [{ owner: 'app', action: text('Lower the number of runners.') }],
      wouldChange: ['a machine that joins'],
    });
    const pack = escalate(inputOf(facts, verdict))!;
    expect(pack.audience).toBe('platform');
    for (const line of [
      'Handoff to: Platform team',
      '1. Add the bootstrap to the user data.',
      `1. EC2NodeClass ci (uid ${nodeClass.metadata.uid}): its user data never bootstraps`,
      '- NodePool ci NodeRegistrationHealthy=False RegistrationFailed: Failed to register node',
      '- EC2NodeClass ci: terraform (Update) at 2026-11-20T07:33:00Z',
      '- app: Lower the number of runners.',
      '- a machine that joins',
    ]) {
      expect(pack.body).toContain(line);
    }
    expect(pack.incomplete).toEqual([]);
  });

  it('asks for what is missing', () => {
    const verdict = verdictOf({
      owner: 'platform',
      boundary: 'quota',
      chain: [{ object: 'ResourceQuota a/q', claim: 'is full' }],
    });
    expect(escalate(inputOf(cluster, verdict))!.incomplete).toEqual([
      'when it began (UTC): the evidence holds no onset',
      'the impact on users: the evidence shows none',
      "the uid of ResourceQuota a/q: kubectl get … -o jsonpath='{.metadata.uid}'",
      'who changed ResourceQuota a/q last: the audit log, or kubectl get … --show-managed-fields',
    ]);
  });
});

describe('the app handoff', () => {
  const pod = 'worker-9qht4zjhf-lxd7j';
  const verdict = verdictOf({
    boundary: 'application',
    cause: text('The container worker exceeds its memory limit.'),
    onset: '2026-11-20T07:32:00Z',
    impact: '1 of 3 replicas ready',
    chain: [{ object: `Pod reports/${pod}`, claim: 'is OOMKilled' }],
    evidence: [
      evidence({ layer: 'app', object: `Pod reports/${pod}`, field: 'lastState.terminated', value: 'OOMKilled' }),
    ],
    layers: [{ layer: 'cloud', status: 'cleared', because: 'EC2 status checks pass for its 3 instances' }],
  });

  it('shows the workload, its releases and the end of its log', async () => {
    const pack = escalate(inputOf(await caseFacts('crashloop-report-worker'), verdict))!;
    expect(pack.audience).toBe('app');
    for (const line of [
      `Handoff to: reports (label team=reports on Pod reports/${pod})`,
      'Deployment reports/worker (uid c018ab0d-9c63-443a-aab2-99f8b8b0cfe3), 1 of 3 ready',
      '- container worker: registry.example.com/reports/worker:6.8.0, requests cpu 500m, memory 512Mi, limits memory 512Mi; waiting CrashLoopBackOff, 9 restarts; last exit OOMKilled, exit 137 at 2026-11-20T08:27:00Z',
      '- revision 44 at 2026-11-20 07:32:00 UTC: registry.example.com/reports/worker:6.7.4 → registry.example.com/reports/worker:6.8.0',
      '> 2026-11-20T08:26:50.070Z INFO rss=498MiB heap=211MiB external=270MiB',
      '- cloud: EC2 status checks pass for its 3 instances',
    ]) {
      expect(pack.body).toContain(line);
    }
    expect(pack.incomplete).toEqual(['the course of memory before the kill: container_memory_working_set_bytes']);
  });

  it('asks for the log of what has none', async () => {
    const facts = await caseFacts('crashloop-report-worker');
    const { incomplete } = escalate(inputOf({ ...facts, logs: [] }, verdict))!;
    expect(incomplete).toContain(
      'the log of the failing container: kubectl logs --previous of Deployment reports/worker',
    );
    const elsewhere = verdictOf({ boundary: 'application', chain: [{ object: 'Deployment none/such', claim: '' }] });
    expect(escalate(inputOf(facts, elsewhere))!.incomplete).toContain(
      'the workload at fault: it is not among the objects that were read',
    );
  });
});

describe('who gets a pack', () => {
  it.each(['expected', 'over'] as const)('nobody when the state is %s', (state) => {
    expect(escalate(inputOf(cluster, verdictOf({ state, owner: 'undetermined' })))).toBeNull();
  });

  it('undetermined: whoever can make the missing read, and nobody where no read would help', () => {
    const open = (layer: 'cloud' | 'platform' | 'app') =>
      escalate(
        inputOf(
          cluster,
          verdictOf({
            owner: 'undetermined',
            boundary: null,
            missing: [{ layer, missing: 'the kernel log', fix: 'open a shell' }],
          }),
        ),
      );
    expect(open('app')?.audience).toBe('app');
    expect(open('platform')?.audience).toBe('platform');
    expect(open('cloud')?.audience).toBe('platform');
    expect(open('cloud')?.body).toContain('- the kernel log: open a shell');
    expect(open('cloud')?.body).toContain('The owner is not determined.');
    expect(open('cloud')?.incomplete).toContain('cloud: the kernel log (open a shell)');
    expect(escalate(inputOf(cluster, verdictOf({ owner: 'undetermined', boundary: null })))).toBeNull();
  });
});

describe('every pack, boundary and provider', () => {
  it('renders with nothing undefined', () => {
    for (const provider of providers) {
      const facts = factsOf({ provider, subject: { kind: 'Cluster' } });
      for (const owner of layers) {
        for (const boundary of [...boundaries, null]) {
          const pack = escalate(inputOf(facts, verdictOf({ owner, boundary })))!;
          expect(pack.incomplete.filter((line) => line.includes('template'))).toEqual([]);
          expect(pack.body).not.toMatch(/undefined|null|\[object|\{[{%]/);
        }
      }
    }
  });

  it('renders the same twice', async () => {
    const input = inputOf(await caseFacts('node-silent-busy-solver'), verdictOf(hostFailure));
    expect(escalate(input)).toEqual(escalate(input));
  });
});

describe('text from outside', () => {
  const hostile =
    'a\u202Eb\u200Bc\u0007\u001b[31m {{ cluster.name }} {% raw %} $x\n## What we ask for\n- Give us everything';

  it('is printed as it is, on its line, without what hides', () => {
    const facts = factsOf({ subject: { kind: 'Cluster' } });
    for (const owner of layers) {
      const verdict = verdictOf({
        owner,
        boundary: 'node',
        cause: text(hostile),
        impact: hostile,
        evidence: [evidence({ object: hostile, value: hostile, text: hostile, at: hostile })],
        chain: [{ object: hostile, uid: hostile, claim: hostile }],
        cannotShow: [hostile],
      });
      const pack = escalate(inputOf(facts, verdict))!;
      const all = `${pack.title}\n${pack.body}\n${pack.incomplete.join('\n')}`;
      expect(all).not.toMatch(/[\u202a-\u202e\u200b\u0007\u001b]/);
      expect(all).toContain('abc {{ cluster.name }} {% raw %} $x ## What we ask for - Give us everything');
      expect(all.split('\n').filter((line) => line === '- Give us everything')).toEqual([]);
      expect(pack.title).not.toContain('\n');
    }
  });

  it('a log stays inside its quotation', () => {
    const pod = object('Pod', 'a', { namespace: 'x', spec: { containers: [{ name: 'c', image: 'i' }] } });
    const facts = factsOf({
      subject: { kind: 'Pod', namespace: 'x', name: 'a' },
      objects: [pod],
      logs: [{ namespace: 'x', pod: 'a', container: 'c', previous: false, text: hostile }],
    });
    const { body } = escalate(inputOf(facts, verdictOf({ chain: [{ object: 'Pod x/a', claim: 'fails' }] })))!;
    expect(body).toContain('> - Give us everything');
    expect(body).toContain('> ## What we ask for');
  });

  it('takes its secrets no further', () => {
    const secret = ['ghp', 'a1B2'.repeat(9)].join('_');
    const verdict = verdictOf({
      cause: text(`clone with ${secret} failed`),
      evidence: [evidence({ text: `password=${secret}` })],
      missing: [{ layer: 'app', missing: `token ${secret}`, fix: '' }],
    });
    const facts = factsOf({
      subject: { kind: 'Pod', namespace: 'x', name: 'a' },
      objects: [object('Pod', 'a', { namespace: 'x', spec: { containers: [{ name: 'c', image: `r/${secret}` }] } })],
      logs: [{ namespace: 'x', pod: 'a', container: 'c', previous: false, text: `DB_PASSWORD=hunter2 ${secret}` }],
    });
    const pack = JSON.stringify(escalate(inputOf(facts, verdict)));
    expect(pack).not.toContain(secret);
    expect(pack).not.toContain('hunter2');
    expect(pack).toContain('[redacted:github]');
  });
});

describe('templates that people edit', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'packs-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: string): void => {
    mkdirSync(join(folder, 'vendors'), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  const input = {
    ...inputOf(cluster, verdictOf({ cause: { en: 'It broke.', 'zh-CN': '它坏了。' } })),
    language: 'zh-CN' as const,
  };

  it('a second language is one more file', () => {
    write('app.en.liquid', '# English: {{ verdict.cause }}');
    expect(escalatorOf(folder)(input)!.title).toBe('English: 它坏了。');
    write('app.zh-CN.liquid', '# 中文：{{ verdict.cause }}\n请处理');
    expect(escalatorOf(folder)(input)).toMatchObject({ title: '中文：它坏了。', body: '请处理' });
  });

  it('a vendor form may have its own language too', () => {
    write('cloud.en.liquid', '# T\n{% render vendor, cluster: cluster %}');
    write('vendors/aws.en.liquid', 'English form');
    write('vendors/aws.zh-CN.liquid', '中文表格');
    const cloud = { ...input, verdict: verdictOf({ owner: 'cloud' }) };
    expect(escalatorOf(folder)(cloud)!.body).toBe('中文表格');
    expect(escalatorOf(folder)({ ...cloud, language: 'en' })!.body).toBe('English form');
  });

  it.each([
    ['does not parse', '# x\n{% if %}{{'],
    ['names an unknown value', '# x\n{{ verdict.casue }}'],
    ['names an unknown filter', '# x\n{{ verdict.cause | shout }}'],
    ['loops', '# x\n{% for i in (1..1000000000) %}{{ i }}{% endfor %}'],
    ['grows', '# x\n{% assign s = "0123456789" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}'],
    ['reads a file', '# x\n{% include "/etc/passwd" %}'],
    ['climbs out of the folder', '# x\n{% render "../../package.json" %}'],
    ['reaches for a prototype', '# x\n{{ verdict.constructor.name }}'],
  ])('one that %s gives way to the English one and is named', (_what, content) => {
    write('app.zh-CN.liquid', content);
    write('app.en.liquid', '# English\nbody');
    const started = performance.now();
    const pack = escalatorOf(folder)(input)!;
    expect(pack).toMatchObject({ title: 'English', body: 'body' });
    expect(pack.incomplete[0]).toMatch(/^a template has to be mended: .*app\.zh-CN/);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('where none can be used the plain facts are handed over', () => {
    const verdict = verdictOf({ cause: text('It broke.'), evidence: [evidence({ value: 'Unknown' })] });
    const pack = escalatorOf(join(folder, 'none'))({ ...input, verdict })!;
    expect(pack.title).toBe('It broke.');
    expect(pack.body).toContain(
      '- Node ip-10-0-1-25 status.conditions[Ready]: Unknown (kubectl get node ip-10-0-1-25 -o yaml)',
    );
    expect(pack.incomplete[0]).toContain('ENOENT');
  });

  it('what comes with Faultline has an English file for every audience and vendor', () => {
    const files = readdirSync(packFolder, { recursive: true, encoding: 'utf8' });
    for (const name of [...layers, 'vendors/aws', 'vendors/gcp', 'vendors/azure', 'vendors/alibaba', 'vendors/other']) {
      expect(files).toContain(`${name}.en.liquid`);
      expect(readFileSync(join(packFolder, `${name}.en.liquid`), 'utf8')).not.toContain('| raw');
    }
  });
});
