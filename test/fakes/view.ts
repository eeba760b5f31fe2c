import type { AuditEntry } from '../../src/domain/audit.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import type { Incident, StoredAlert } from '../../src/domain/incident.ts';
import type { Layer } from '../../src/domain/layer.ts';
import type { Silence } from '../../src/domain/silence.ts';
import { text } from '../../src/domain/text.ts';
import type { LayerVerdict, Verdict } from '../../src/domain/verdict.ts';
import type { HandOff, IncidentView, LayerReading, Routing } from '../../src/domain/view.ts';

/** Incidents as a person is shown them, close to cases of test/cases; each a complete view to change for a test. */

const incidentId = '01JD2V7Q4Y8M3N6P9R0S1T2U3V';

export const evidence = (overrides: Partial<Evidence> = {}): Evidence => ({
  layer: 'platform',
  source: 'event',
  object: 'Pod media/preview-7d9c5b4f8-x2klm',
  uid: '8f14e45f-ceea-467f-a5a3-1b2c3d4e5f60',
  field: 'FailedScheduling',
  value: '14',
  text: '0/12 nodes are available: 12 Insufficient cpu. preemption: 0/12 nodes are available: 12 No preemption victims found.',
  at: '2026-11-20T08:12:31Z',
  reproduce: 'kubectl get events -n media --field-selector reason=FailedScheduling',
  limits: 'Events expire after an hour; earlier ones are gone.',
  ...overrides,
});

export const storedAlert = (overrides: Partial<StoredAlert> = {}): StoredAlert => ({
  status: 'firing',
  labels: { alertname: 'KubePodNotReady', namespace: 'media', pod: 'preview-7d9c5b4f8-x2klm', severity: 'critical' },
  annotations: {
    summary: 'Pod has been in a non-ready state for more than 15 minutes.',
    runbook_url: 'https://runbooks.example.com/kubepodnotready',
    dashboard_url: 'https://grafana.example.com/d/pods?var-namespace=media&var-pod=preview',
  },
  startsAt: '2026-11-20T08:25:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus.example.com/graph?g0.expr=kube_pod_status_ready%3D%3D0',
  fingerprint: 'c78b0153b8e14949',
  incidentId,
  receivedAt: '2026-11-20T08:25:04Z',
  ...overrides,
});

const cleared = (layer: Layer, because: string): LayerVerdict => ({ layer, status: 'cleared', because });
const implicated = (layer: Layer, because: string): LayerVerdict => ({ layer, status: 'implicated', because });
const unknown = (layer: Layer, missing: string, fix: string): LayerVerdict => ({
  layer,
  status: 'unknown',
  missing,
  fix,
});

const cloudCleared = cleared(
  'cloud',
  'all 12 EC2 instances pass both status checks and AWS Health has no open event for eu-central-1',
);
const platformCleared = cleared(
  'platform',
  'node ip-10-0-3-17 is Ready without pressure and every NodePool is below its limits',
);
const appCleared = cleared('app', 'the pod template is unchanged for 9 days and its requests are those of last week');

export const incident = (overrides: Partial<Incident> = {}): Incident => ({
  id: incidentId,
  cluster: 'shop-eu',
  subject: { cluster: 'shop-eu', kind: 'Deployment', namespace: 'media', name: 'preview' },
  title: 'KubePodNotReady',
  severity: 'critical',
  status: 'open',
  refires: 0,
  run: 1,
  progress: { cloud: 'read', platform: 'read', app: 'read' },
  acknowledgedBy: null,
  assignedTo: null,
  resolvedBy: null,
  firedAt: '2026-11-20T08:25:00Z',
  openedAt: '2026-11-20T08:25:04Z',
  resolvedAt: null,
  updatedAt: '2026-11-20T08:25:21Z',
  truncatedAlerts: 0,
  ...overrides,
});

export const reading = (layer: Layer, overrides: Partial<LayerReading> = {}): LayerReading => ({
  layer,
  readAt: '2026-11-20T08:25:14Z',
  apiCalls: 9,
  gaps: [],
  observations: [],
  ...overrides,
});

export const verdict = (overrides: Partial<Verdict> = {}): Verdict => ({
  state: 'fault',
  owner: 'platform',
  boundary: 'provisioning',
  confidence: 'high',
  cause: text('NodePool general is at its cpu limit (48 of 48), so Karpenter may not launch another node.'),
  rule: 'nodepool-limit-reached',
  contributing: [{ owner: 'app', action: text('Lower the cpu request of media/preview: it uses 110m of 2000m.') }],
  evidence: [
    evidence(),
    evidence({
      source: 'kubernetes',
      object: 'NodePool general',
      uid: '0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f',
      field: 'status.resources.cpu',
      value: '48',
      text: '',
      at: '2026-11-20T08:25:12Z',
      reproduce: 'kubectl get nodepool general -o yaml',
      limits: 'Counts nodes that are draining.',
    }),
  ],
  chain: [
    {
      object: 'NodePool general',
      uid: '0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f',
      claim: 'its limit of 48 cpu is used up',
    },
    {
      object: 'Pod media/preview-7d9c5b4f8-x2klm',
      uid: '8f14e45f-ceea-467f-a5a3-1b2c3d4e5f60',
      claim: 'fits no node and gets none',
    },
    { object: 'Deployment media/preview', uid: '5e6f7a8b-9c0d-4e1f-a2b3-c4d5e6f7a8b9', claim: 'has 3 of 5 replicas' },
  ],
  layers: [cloudCleared, implicated('platform', 'NodePool general is at its cpu limit'), appCleared],
  missing: [],
  nextSteps: [
    text('Raise spec.limits.cpu of NodePool general above 48, or free a draining node.'),
    text('See that the two pending pods of media/preview start.'),
  ],
  cannotShow: ['Whether the limit was set on purpose: no change trail was read.'],
  wouldChange: ['A NodePool with room whose requirements the pod meets.'],
  impact: '2 of 5 replicas of media/preview are pending for 13 minutes',
  onset: '2026-11-20T08:12:31Z',
  deadline: null,
  ruleSet: '9f2c41d0',
  ...overrides,
});

const platformTeam: Routing = {
  owner: 'platform',
  party: 'Cluster platform',
  knownBy: 'the directory names Cluster platform for NodePools of shop-eu',
  mention: 'S0614TZR7',
  channel: 'C0PLATFORM',
};

export const handOff = (overrides: Partial<HandOff> = {}): HandOff => ({
  number: 1,
  to: 'app',
  routing: { owner: 'app', party: 'media', knownBy: 'a person handed it over', mention: 'S0MEDIA01', channel: null },
  escalation: null,
  why: 'the request is theirs to lower',
  corrects: false,
  by: 'U0ALICE01',
  at: '2026-11-20T08:31:00Z',
  ...overrides,
});

export const silence = (overrides: Partial<Silence> = {}): Silence => ({
  id: '5b1c6a0e-9f0f-4c0c-8f0a-2d6d2b8a7c11',
  matchers: [{ name: 'alertname', value: 'KubePodNotReady', isRegex: false }],
  startsAt: '2026-11-20T08:30:00Z',
  endsAt: '2026-11-20T12:30:00Z',
  by: 'U0ALICE01',
  reason: 'the fix rolls out',
  ...overrides,
});

export const act = (overrides: Partial<AuditEntry> = {}): AuditEntry => ({
  at: '2026-11-20T08:29:00Z',
  incidentId,
  actor: 'U0ALICE01',
  action: 'acknowledge',
  detail: '',
  ...overrides,
});

/** The platform incident, complete; the other views differ in what makes them other. */
export const incidentView = (overrides: Partial<IncidentView> = {}): IncidentView => ({
  incident: incident(),
  alerts: [storedAlert()],
  rejected: [],
  readings: { cloud: reading('cloud'), platform: reading('platform'), app: reading('app') },
  verdict: verdict(),
  verdictAt: '2026-11-20T08:25:21Z',
  formerOwner: null,
  formerState: null,
  routing: platformTeam,
  escalation: {
    audience: 'platform',
    title: 'NodePool general is at its cpu limit',
    body: 'What: 2 of 5 replicas of media/preview are pending.\nSince: 2026-11-20 08:12:31 UTC.\nProof: NodePool general status.resources.cpu = 48, spec.limits.cpu = 48.\n\nAsked of you: raise the limit or free a draining node.',
    incomplete: ['who set the limit, and why'],
  },
  handOff: null,
  silences: [],
  trail: [],
  mode: 'observe',
  channel: 'C0INCIDENTS',
  pageUrl: 'http://127.0.0.1:3000/incidents/01JD2V7Q4Y8M3N6P9R0S1T2U3V',
  externalURL: 'http://alertmanager.example.com',
  ...overrides,
});

const cloudView = (): IncidentView =>
  incidentView({
    incident: incident({
      title: 'KubeNodeUnreachable',
      subject: { cluster: 'shop-eu', kind: 'Node', name: 'ip-10-0-3-17.eu-central-1.compute.internal' },
    }),
    verdict: verdict({
      owner: 'cloud',
      boundary: 'node',
      cause: text(
        'EC2 instance i-0a1b2c3d4e5f60718 fails its system status check and carries a degraded-hardware event.',
      ),
      rule: 'instance-status-failed',
      contributing: [],
      evidence: [
        evidence({
          layer: 'cloud',
          source: 'aws',
          object: 'ec2.describeInstanceStatus',
          uid: 'i-0a1b2c3d4e5f60718',
          field: 'SystemStatus',
          value: 'impaired',
          text: '{"SystemStatus":{"Status":"impaired","Details":[{"Name":"reachability","Status":"failed"}]}}',
          reproduce: 'aws ec2 describe-instance-status --instance-ids i-0a1b2c3d4e5f60718',
          limits: 'Says that the host is unreachable, not why.',
        }),
      ],
      chain: [
        { object: 'Instance i-0a1b2c3d4e5f60718', uid: 'i-0a1b2c3d4e5f60718', claim: 'its host is degraded' },
        {
          object: 'Node ip-10-0-3-17',
          uid: '11111111-2222-4333-8444-555555555555',
          claim: 'its kubelet is silent since 08:11',
        },
      ],
      layers: [implicated('cloud', 'the instance fails its system status check'), platformCleared, appCleared],
      nextSteps: [text('Replace the node: delete its NodeClaim, then open a support case with the draft below.')],
    }),
    routing: {
      owner: 'cloud',
      party: 'AWS Support',
      knownBy: 'shop-eu is an eks cluster',
      mention: 'U0ONCALL1',
      channel: null,
    },
    escalation: {
      audience: 'cloud',
      title: 'EC2 system status check failed on i-0a1b2c3d4e5f60718',
      body: 'Region: eu-central-1\nInstance: i-0a1b2c3d4e5f60718\nSymptom: SystemStatus impaired since 2026-11-20T08:11:00Z.',
      incomplete: ['console output of the instance'],
    },
  });

const appView = (): IncidentView =>
  incidentView({
    incident: incident({
      title: 'KubePodCrashLooping',
      severity: 'warning',
      subject: { cluster: 'shop-eu', kind: 'Deployment', namespace: 'reports', name: 'report-worker' },
    }),
    verdict: verdict({
      owner: 'app',
      boundary: 'application',
      impact: 'report-worker has no ready replica for 4 minutes',
      chain: [
        {
          object: 'ReplicaSet reports/report-worker-6f7d8c9b5',
          uid: '2b3c4d5e-6f7a-4b8c-9d0e-1f2a3b4c5d6e',
          claim: 'release 6.8.0, limit 512Mi',
        },
        {
          object: 'Pod reports/report-worker-6f7d8c9b5-4jq2w',
          uid: '3c4d5e6f-7a8b-4c9d-8e1f-2a3b4c5d6e7f',
          claim: 'OOMKilled at its own limit',
        },
      ],
      cause: text('Release 6.8.0 of report-worker exceeds its 512Mi memory limit and is OOMKilled on healthy nodes.'),
      rule: 'oom-own-limit',
      contributing: [],
      evidence: [
        evidence({
          layer: 'app',
          source: 'kubernetes',
          object: 'Pod reports/report-worker-6f7d8c9b5-4jq2w',
          field: 'status.containerStatuses[0].lastState.terminated.reason',
          value: 'OOMKilled',
          text: 'exitCode 137, reason OOMKilled, startedAt 2026-11-20T08:20:04Z, finishedAt 2026-11-20T08:21:50Z',
          reproduce: 'kubectl get pod report-worker-6f7d8c9b5-4jq2w -n reports -o yaml',
          limits: 'Says that the limit was exceeded, not what held the memory.',
        }),
      ],
      layers: [
        cloudCleared,
        platformCleared,
        implicated('app', 'three pods were OOMKilled at their own limit since release 6.8.0'),
      ],
      nextSteps: [text('Roll report-worker back to 6.7.2, or raise its memory limit above 900Mi.')],
    }),
    routing: {
      owner: 'app',
      party: 'reporting',
      knownBy: 'label team=reporting on Deployment reports/report-worker',
      mention: 'S0REPORTS',
      channel: 'C0REPORTS',
    },
    escalation: {
      audience: 'app',
      title: 'report-worker 6.8.0 is OOMKilled at its own limit',
      body: 'Since release 6.8.0 (08:02 UTC) all three pods were OOMKilled at 512Mi.',
      incomplete: [],
    },
  });

const undeterminedView = (): IncidentView =>
  incidentView({
    incident: incident({ title: 'KubeContainerWaiting' }),
    verdict: verdict({
      owner: 'undetermined',
      boundary: null,
      confidence: 'low',
      cause: text(
        'Pods stay in ContainerCreating for 26 minutes; what holds them is only in events, which may not be read.',
      ),
      rule: null,
      contributing: [],
      evidence: [],
      chain: [],
      layers: [
        cloudCleared,
        unknown(
          'platform',
          'cannot list events in media (403)',
          'kubectl create rolebinding faultline-view --clusterrole=view --serviceaccount=faultline:faultline -n media',
        ),
        unknown('app', 'cannot list events in media (403)', 'grant list on events to faultline in media'),
      ],
      missing: [{ layer: 'platform', missing: 'events of the pods in media', fix: 'kubectl get events -n media' }],
      nextSteps: [],
    }),
    readings: {
      cloud: reading('cloud'),
      platform: reading('platform', {
        gaps: [{ missing: 'events in media: forbidden', fix: 'grant list on events in media' }],
      }),
      app: reading('app'),
    },
    routing: {
      owner: 'undetermined',
      party: 'Cluster platform',
      knownBy: 'the default for open questions',
      mention: null,
      channel: null,
    },
    escalation: null,
  });

const expectedView = (): IncidentView =>
  incidentView({
    incident: incident({
      title: 'KubeNodeNotReady',
      severity: 'warning',
      subject: { cluster: 'shop-eu', kind: 'Node', name: 'ip-10-0-4-9' },
    }),
    verdict: verdict({
      state: 'expected',
      owner: 'undetermined',
      boundary: 'node',
      cause: text('Karpenter removes this underutilized node; its kubelet stops as the instance terminates.'),
      rule: 'node-consolidated',
      contributing: [],
      evidence: [
        evidence({
          object: 'NodeClaim general-x7k2p',
          field: 'DisruptionTerminating',
          text: 'Disrupting NodeClaim: Underutilized/Delete',
        }),
      ],
      chain: [],
      layers: [cloudCleared, platformCleared, appCleared],
      nextSteps: [],
      deadline: '2026-11-20T08:40:00Z',
      impact: '',
    }),
    routing: null,
    escalation: null,
  });

const overView = (): IncidentView =>
  incidentView({
    incident: incident({
      status: 'resolved',
      resolvedAt: '2026-11-20T08:51:00Z',
      refires: 2,
      acknowledgedBy: 'U0ALICE01',
      run: 3,
    }),
    alerts: [storedAlert({ status: 'resolved', endsAt: '2026-11-20T08:51:00Z' })],
    verdict: verdict({
      state: 'over',
      owner: 'undetermined',
      boundary: null,
      cause: text('The failed run is three days old; the three runs since then completed.'),
      rule: 'job-recovered',
      contributing: [],
      evidence: [],
      chain: [],
      layers: [cloudCleared, platformCleared, appCleared],
      nextSteps: [],
      impact: '',
    }),
    routing: null,
    escalation: null,
  });

const runningView = (): IncidentView =>
  incidentView({
    incident: incident({ progress: { cloud: 'waiting', platform: 'reading', app: 'read' } }),
    readings: {
      app: reading('app', {
        observations: [
          evidence({ layer: 'app', field: 'Pending', text: 'phase Pending, PodScheduled=False: Unschedulable' }),
        ],
      }),
    },
    verdict: null,
    verdictAt: null,
    routing: null,
    escalation: null,
  });

export const views = {
  platform: incidentView,
  cloud: cloudView,
  app: appView,
  undetermined: undeterminedView,
  expected: expectedView,
  over: overView,
  running: runningView,
} as const satisfies Record<string, () => IncidentView>;
