import { describe, expect, it } from 'vitest';
import type { Facts } from '../../src/domain/facts.ts';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import { ClusterFacts } from '../../src/facts/cluster.ts';
import { emptyDirectory, type OwnerDirectory, type Team } from '../../src/routing/directory.ts';
import { explainOwner, findWorkload } from '../../src/routing/explain.ts';
import { handOffTo, route } from '../../src/routing/route.ts';
import { event, factsOf, object } from '../rules/harness.ts';
import { caseFacts, verdictOf } from './facts.ts';

const team = (id: string, rest: Partial<Team> = {}): Team => ({
  id,
  name: id,
  aliases: [],
  mention: null,
  channel: null,
  ...rest,
});

const directory: OwnerDirectory = {
  ...emptyDirectory,
  teams: {
    platform: team('platform', { name: 'Cluster platform', mention: 'S0000PLAT1', aliases: ['sre'] }),
    'platform-eu': team('platform-eu', { name: 'Cluster platform EU' }),
    media: team('media', { name: 'Media', mention: 'S0000MEDI1', channel: 'C0000MEDI1', aliases: ['media-squad'] }),
    payments: team('payments', { name: 'Payments', aliases: ['checkout-suite'] }),
  },
  platform: { team: 'platform', clusters: { 'prod-eu': 'platform-eu' } },
};

const pod = (name: string, rest: Record<string, any> = {}): KubeObject =>
  object('Pod', name, { namespace: 'media', ...rest });

/** Pod → ReplicaSet → Deployment, with labels where a test wants them. */
const deployed = (labels: { pod?: any; deployment?: any; annotations?: any; namespace?: any } = {}): Facts =>
  factsOf({
    subject: { kind: 'Pod', namespace: 'media', name: 'preview-1-a' },
    objects: [
      pod('preview-1-a', {
        labels: labels.pod,
        ownerReferences: [{ kind: 'ReplicaSet', name: 'preview-1', uid: 'uid-ReplicaSet-preview-1', controller: true }],
      }),
      object('ReplicaSet', 'preview-1', {
        namespace: 'media',
        ownerReferences: [{ kind: 'Deployment', name: 'preview', uid: 'uid-Deployment-preview', controller: true }],
      }),
      object('Deployment', 'preview', {
        namespace: 'media',
        labels: labels.deployment,
        annotations: labels.annotations,
      }),
      object('Namespace', 'media', { labels: labels.namespace }),
    ],
  });

const alert = (labels: Record<string, string>) => ({
  status: 'firing' as const,
  labels: { alertname: 'KubePodCrashLooping', namespace: 'media', pod: 'preview-1-a', ...labels },
  annotations: {},
  startsAt: '2026-11-20T08:25:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: 'f',
});

const chain = [{ object: 'Pod media/preview-1-a', uid: 'uid-Pod-preview-1-a', claim: 'is killed' }];
const toApp = (facts: Facts, given = directory) => route({ verdict: verdictOf({ chain }), facts, directory: given });

describe('the app team by the chain of facts', () => {
  const full = { pod: { team: 'payments' }, deployment: { squad: 'media' }, namespace: { owner: 'payments' } };

  it('takes the alert label first', () => {
    const facts = { ...deployed(full), alerts: [alert({ team: 'media-squad' })] };
    expect(toApp(facts)).toEqual({
      owner: 'app',
      party: 'Media',
      knownBy: 'label team=media-squad on alert KubePodCrashLooping, for Pod media/preview-1-a',
      mention: 'S0000MEDI1',
      channel: 'C0000MEDI1',
    });
  });

  it("does not take the rule author's label for the workload's", () => {
    const facts = { ...deployed(full), alerts: [alert({ team: 'sre' })] };
    expect(toApp(facts)).toMatchObject({ party: 'Payments', knownBy: 'label team=payments on Pod media/preview-1-a' });
  });

  it('walks the owner chain', () => {
    expect(toApp(deployed({ deployment: { squad: 'media' }, namespace: { owner: 'payments' } }))).toMatchObject({
      party: 'Media',
      knownBy: 'label squad=media on Deployment media/preview, for Pod media/preview-1-a',
    });
  });

  it("reads annotations, Backstage's way of naming groups included", () => {
    expect(toApp(deployed({ annotations: { 'backstage.io/owner': 'group:default/media' } }))).toMatchObject({
      party: 'Media',
      knownBy: expect.stringContaining('annotation backstage.io/owner=group:default/media on Deployment media/preview'),
    });
  });

  it('then the namespace', () => {
    expect(toApp(deployed({ namespace: { owner: 'payments' } }))).toMatchObject({
      party: 'Payments',
      knownBy: 'label owner=payments on namespace media, for Pod media/preview-1-a',
    });
  });

  it('then the directory: workloads before namespaces, exact names before patterns', () => {
    const facts = deployed();
    const namespaces = { '*': 'payments', 'med*': 'payments', media: 'media' };
    expect(toApp(facts, { ...directory, namespaces })).toMatchObject({
      party: 'Media',
      knownBy: expect.stringContaining('entry namespaces.media: media of the owner directory'),
    });
    const workloads = [
      { namespace: 'media', kind: 'Deployment', name: 'thumb*', team: 'media' },
      { namespace: 'm*a', kind: 'Deployment', name: 'pre*w', team: 'payments' },
    ];
    expect(toApp(facts, { ...directory, namespaces, workloads })).toMatchObject({
      party: 'Payments',
      knownBy: expect.stringContaining('workloads[1]: namespace=m*a kind=Deployment name=pre*w: payments'),
    });
  });

  it('then the default of the directory, saying what was looked at', () => {
    const result = toApp(deployed(), { ...directory, defaults: { app: 'payments' } });
    expect(result.party).toBe('Payments');
    expect(result.knownBy).toBe(
      'defaults.app: payments of the owner directory: no team is named by Pod media/preview-1-a, ReplicaSet media/preview-1, Deployment media/preview, namespace media, directory, its neighbours in namespace media',
    );
  });

  it('what carries no label goes with its neighbours where they agree', () => {
    const facts = deployed();
    const neighbour = (name: string, label: string) =>
      object('Deployment', name, { namespace: 'media', labels: { team: label } });
    const among = (...neighbours: KubeObject[]) => toApp({ ...facts, objects: [...facts.objects, ...neighbours] });
    expect(among(neighbour('a', 'payments'), neighbour('b', 'payments'))).toMatchObject({
      party: 'Payments',
      knownBy: 'label team=payments on its neighbours in namespace media, for Pod media/preview-1-a',
    });
    expect(among(neighbour('a', 'payments'), neighbour('b', 'media')).party).toBe('Owner of namespace media');
    const lone = object('Pod', 'lone', { namespace: 'default' });
    const other = object('Deployment', 'a', { namespace: 'default', labels: { team: 'payments' } });
    const verdict = verdictOf({ chain: [{ object: 'Pod default/lone', claim: '' }] });
    expect(route({ verdict, facts: { ...facts, objects: [lone, other] }, directory }).party).toBe(
      'Owner of namespace default',
    );
  });

  it('a chain that begins with a sort of objects names their namespace', () => {
    const facts = deployed({ pod: { team: 'payments' }, namespace: { team: 'media' } });
    const verdict = verdictOf({ chain: [{ object: 'workflows.argoproj.io in media', claim: 'fill etcd' }] });
    expect(route({ verdict, facts, directory })).toMatchObject({
      party: 'Media',
      knownBy: expect.stringContaining('label team=media on namespace media'),
    });
  });

  it('a product label counts only where the directory knows it', () => {
    const facts = deployed({ deployment: { 'app.kubernetes.io/part-of': 'checkout-suite' } });
    expect(toApp(facts).party).toBe('Payments');
    expect(toApp(facts, emptyDirectory).party).toBe('Owner of namespace media');
  });

  it('works without any directory', () => {
    expect(toApp(deployed({ deployment: { team: 'media' } }), emptyDirectory)).toMatchObject({
      party: 'media',
      mention: null,
      channel: null,
    });
  });

  it('uses configured keys', () => {
    const keys = { ...emptyDirectory.keys, labels: ['example.com/crew'] };
    const facts = deployed({ deployment: { team: 'payments', 'example.com/crew': 'media' } });
    expect(toApp(facts, { ...directory, keys }).party).toBe('Media');
  });

  it('finds the team behind an autoscaler, a Service and a budget', () => {
    const base = deployed({ pod: { app: 'preview' }, deployment: { team: 'media' } });
    const serving = [
      object('HorizontalPodAutoscaler', 'preview', {
        namespace: 'media',
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'preview' } },
      }),
      object('Service', 'preview', { namespace: 'media', spec: { selector: { app: 'preview' } } }),
      object('PodDisruptionBudget', 'preview', {
        namespace: 'media',
        spec: { selector: { matchLabels: { app: 'preview' } } },
      }),
    ];
    const facts = { ...base, objects: [...base.objects, ...serving] };
    for (const { kind } of serving) {
      const verdict = verdictOf({ chain: [{ object: `${kind} media/preview`, claim: '' }] });
      expect(route({ verdict, facts, directory }).party, kind).toBe('Media');
    }
  });
});

describe('the root decides, not the alert', () => {
  it("a leak that filled the pool: the alert is about a NodePool, the team is the leaking workload's", async () => {
    const facts = await caseFacts('node-count-doubled-a');
    const verdict = verdictOf({
      chain: [
        { object: 'Deployment media/preview', claim: 'leaks' },
        { object: 'NodePool default', claim: 'grows' },
      ],
    });
    expect(route({ verdict, facts, directory })).toMatchObject({
      party: 'Media',
      knownBy: 'label team=media on Deployment media/preview',
    });
  });

  it("does not take the victim's alert label for the culprit", () => {
    const facts = deployed({ deployment: { team: 'media' } });
    const culprit = object('Deployment', 'crawler', { namespace: 'crawl', labels: { team: 'payments' } });
    const verdict = verdictOf({
      chain: [{ object: 'Deployment crawl/crawler', uid: culprit.metadata.uid, claim: 'floods' }, ...chain],
    });
    const given = { ...facts, objects: [...facts.objects, culprit], alerts: [alert({ team: 'media' })] };
    expect(route({ verdict, facts: given, directory }).party).toBe('Payments');
  });

  it('skips what lies in no namespace, and falls back on evidence and the subject', () => {
    const facts = deployed({ pod: { team: 'media' } });
    const evidence = {
      layer: 'app' as const,
      source: 'event' as const,
      object: 'Pod media/preview-1-a',
      field: 'BackOff',
      value: '',
      text: '',
      reproduce: '',
      limits: '',
    };
    const node = [{ object: 'Node ip-10-0-0-1', claim: 'is full' }];
    expect(route({ verdict: verdictOf({ chain: node, evidence: [evidence] }), facts, directory }).party).toBe('Media');
    expect(route({ verdict: verdictOf({}), facts, directory }).party).toBe('Media');
  });

  it.each([
    [
      'crashloop-report-worker',
      'Pod reports/worker-9qht4zjhf-lxd7j',
      'reports',
      'label team=reports on Pod reports/worker-9qht4zjhf-lxd7j',
    ],
    [
      'api-429-controllers-lag',
      'Deployment batchlab/job-tracker',
      'batchlab',
      'label team=batchlab on Deployment batchlab/job-tracker',
    ],
    [
      'half-pending-half-oom-a',
      'Deployment sessions/store',
      'sessions',
      'label team=sessions on alert SessionStoreUnavailable, for Deployment sessions/store',
    ],
    [
      'job-pod-nonzero-exit',
      'Pod warehouse/load-29394480-tpdbr',
      'Owner of namespace warehouse',
      expect.stringMatching(/Job warehouse\/load-29394480, CronJob warehouse\/load, namespace warehouse/),
    ],
  ])('%s', async (name, root, party, knownBy) => {
    const facts = await caseFacts(name);
    const verdict = verdictOf({ chain: [{ object: root, claim: '' }] });
    expect(route({ verdict, facts, directory: emptyDirectory })).toMatchObject({ party, knownBy });
  });
});

describe('vendor and platform', () => {
  const cloud = verdictOf({ owner: 'cloud', boundary: 'zone' });

  it.each([
    ['eks', 'AWS Support'],
    ['eks-auto', 'AWS Support'],
    ['gke', 'Google Cloud Support'],
    ['aks', 'Azure Support'],
    ['ack', 'Alibaba Cloud Support'],
  ] as const)('%s belongs to %s', (provider, party) => {
    const facts = factsOf({ provider, subject: { kind: 'Cluster' } });
    expect(route({ verdict: cloud, facts, directory: emptyDirectory })).toMatchObject({
      party,
      knownBy: `provider ${provider} of cluster test`,
    });
  });

  it('a self-managed cluster runs on whom its nodes name', async () => {
    const node = object('Node', 'n1', { spec: { providerID: 'gce://acme/us-central1-a/n1' } });
    const facts = factsOf({ provider: 'self', subject: { kind: 'Cluster' }, objects: [node] });
    expect(route({ verdict: cloud, facts, directory }).party).toBe('Google Cloud Support');
    const bare = await caseFacts('control-plane-node-no-network');
    expect(route({ verdict: cloud, facts: bare, directory })).toMatchObject({
      party: 'Infrastructure provider',
      knownBy: expect.stringContaining('self-managed'),
    });
  });

  it("the directory's entry says how the vendor is reached", () => {
    const vendors = { eks: { name: '', mention: 'S0000CASE1', channel: 'C0000CASE1' } };
    const facts = factsOf({ subject: { kind: 'Cluster' } });
    expect(route({ verdict: cloud, facts, directory: { ...directory, vendors } })).toMatchObject({
      party: 'AWS Support',
      mention: 'S0000CASE1',
      channel: 'C0000CASE1',
      knownBy: 'provider eks of cluster test; directory entry vendors.eks',
    });
  });

  it('the platform team is per cluster', () => {
    const verdict = verdictOf({ owner: 'platform', boundary: 'provisioning' });
    const facts = factsOf({ subject: { kind: 'Cluster' } });
    expect(route({ verdict, facts, directory })).toMatchObject({ party: 'Cluster platform', mention: 'S0000PLAT1' });
    const eu = { ...facts, cluster: { ...facts.cluster, name: 'prod-eu' } };
    expect(route({ verdict, facts: eu, directory })).toMatchObject({
      party: 'Cluster platform EU',
      knownBy: 'entry platform.clusters.prod-eu: platform-eu of the owner directory',
    });
    expect(route({ verdict, facts, directory: emptyDirectory })).toMatchObject({
      party: 'Platform team',
      mention: null,
    });
  });
});

describe('nobody is paged without a fault and an owner', () => {
  it.each(['expected', 'over'] as const)('%s', (state) => {
    const verdict = verdictOf({ state, owner: 'undetermined' });
    expect(route({ verdict, facts: deployed(), directory })).toMatchObject({
      party: 'Nobody',
      mention: null,
      channel: null,
    });
  });

  it('undetermined: who can make the missing read looks first, unmentioned', () => {
    const missing = [{ layer: 'cloud' as const, missing: 'ec2.describeInstanceStatus', fix: 'allow it' }];
    const open = verdictOf({ owner: 'undetermined', missing });
    expect(route({ verdict: open, facts: deployed(), directory })).toMatchObject({
      owner: 'undetermined',
      party: 'Cluster platform',
      mention: null,
      knownBy: expect.stringContaining('ec2.describeInstanceStatus'),
    });
    const own = verdictOf({
      owner: 'undetermined',
      missing: [{ layer: 'app', missing: 'the log of preview', fix: '' }],
      chain,
    });
    expect(route({ verdict: own, facts: deployed({ pod: { team: 'media' } }), directory })).toMatchObject({
      party: 'Media',
      mention: null,
    });
  });
});

describe('owners explain', () => {
  it('lists every fact in order, with what became of it', () => {
    const facts = new ClusterFacts(deployed({ deployment: { team: 'media' }, namespace: { owner: 'payments' } }));
    const target = findWorkload(facts, 'media/preview')!;
    const { party, looked } = explainOwner({ target, facts, directory, alerts: [alert({ team: 'sre' })] });
    expect(party.name).toBe('Media');
    expect(looked.map(({ where, outcome }) => [where, outcome])).toEqual([
      ['alert KubePodCrashLooping', 'unusable'],
      ['Deployment media/preview', 'decides'],
      ['namespace media', 'outranked'],
      ['directory', 'absent'],
      ['its neighbours in namespace media', 'outranked'],
      ['no team named', 'outranked'],
    ]);
  });

  it('finds a workload by name or by kind and name', () => {
    const facts = new ClusterFacts(deployed());
    expect(findWorkload(facts, 'media/pod/preview-1-a')).toMatchObject({ kind: 'Pod' });
    expect(findWorkload(facts, 'media/preview-1-a')).toMatchObject({ kind: 'Pod', name: 'preview-1-a' });
    expect(findWorkload(facts, 'media/nothing')).toBeNull();
    expect(findWorkload(facts, 'preview')).toBeNull();
  });

  it('says which object of the chain was not read', () => {
    const facts = factsOf({
      subject: { kind: 'Pod', namespace: 'media', name: 'lone' },
      objects: [
        pod('lone', { ownerReferences: [{ kind: 'ReplicaSet', name: 'gone', controller: true }] }),
        event(pod('lone'), 'BackOff', 'x'),
      ],
    });
    const { looked } = explainOwner({
      target: { kind: 'Pod', namespace: 'media', name: 'lone' },
      facts: new ClusterFacts(facts),
      directory,
      alerts: [],
    });
    expect(looked.filter(({ outcome }) => outcome === 'not read').map(({ where }) => where)).toEqual([
      'ReplicaSet media/gone',
      'namespace media',
    ]);
  });
});

describe('a hand-off', () => {
  const facts = deployed({ deployment: { team: 'payments' } });
  const verdict = verdictOf({ owner: 'cloud' });
  const handedTo = (to: string) => handOffTo(to, 'by a person', { verdict, facts, directory });

  it('leads to the party of a layer, whatever the verdict says', () => {
    expect(handedTo('App')).toMatchObject({ to: 'app', routing: { owner: 'app', party: 'Payments' } });
    expect(handedTo('platform')).toMatchObject({ to: 'platform', routing: { mention: 'S0000PLAT1' } });
    expect(handedTo('cloud')).toMatchObject({ to: 'cloud', routing: { owner: 'cloud', knownBy: 'by a person' } });
  });

  it('leads to a team by id, name or alias; the platform team acts for its layer', () => {
    expect(handedTo('media-squad')).toMatchObject({ to: 'app', routing: { party: 'Media', channel: 'C0000MEDI1' } });
    expect(handedTo('sre')).toMatchObject({ to: 'platform', routing: { party: 'Cluster platform' } });
  });

  it('leads nowhere for a team that the directory does not have', () => {
    expect(handedTo('growth')).toBeNull();
  });
});
