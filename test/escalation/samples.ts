import type { Evidence } from '../../src/domain/evidence.ts';
import type { Facts } from '../../src/domain/facts.ts';
import type { Incident, StoredAlert } from '../../src/domain/incident.ts';
import { text } from '../../src/domain/text.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import type { EscalationInput } from '../../src/escalation/context.ts';
import { emptyDirectory } from '../../src/routing/directory.ts';
import { route } from '../../src/routing/route.ts';

export const evidence = (overrides: Partial<Evidence>): Evidence => ({
  layer: 'cloud',
  source: 'kubernetes',
  object: 'Node ip-10-0-1-25',
  field: 'status.conditions[Ready]',
  value: 'Unknown',
  text: '',
  reproduce: 'kubectl get node ip-10-0-1-25 -o yaml',
  limits: 'the state when it was read',
  ...overrides,
});

export const incidentOf = (facts: Facts, overrides: Partial<Incident> = {}): Incident => ({
  id: '01JD2V7Q4Y8M3N6P9R0S1T2U3V',
  cluster: facts.cluster.name,
  subject: facts.subject,
  title: facts.alerts[0]?.labels.alertname ?? 'KubeNodeUnreachable',
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
  updatedAt: '2026-11-20T08:30:00Z',
  truncatedAlerts: 0,
  ...overrides,
});

/** What the use case hands over: facts of a case, and the verdict under test, routed as it would be. */
export const inputOf = (facts: Facts, verdict: Verdict, incident: Partial<Incident> = {}): EscalationInput => ({
  incident: incidentOf(facts, incident),
  alerts: facts.alerts.map((alert): StoredAlert => ({ ...alert, incidentId: 'x', receivedAt: alert.startsAt })),
  verdict,
  routing: route({ verdict, facts, directory: emptyDirectory }),
  facts,
  language: 'en',
});

/** The host under ip-10-0-1-25 of the case node-silent-busy-solver failed its system check. */
export const hostFailure: Partial<Verdict> = {
  owner: 'cloud',
  boundary: 'node',
  cause: text('The host of i-098c8304c47aea3bc fails its system status check.'),
  impact: '1 of 6 nodes not Ready',
  onset: '2026-11-20T08:11:20Z',
  evidence: [
    evidence({
      source: 'aws',
      object: 'ec2.describeInstanceStatus',
      field: 'i-098c8304c47aea3bc.SystemStatus',
      value: 'impaired',
      text: 'reachability failed, api error RequestID: 7b1f2c3d-1111-4222-8333-94445555aaaa',
      at: '2026-11-20T08:11:00Z',
      reproduce: 'aws ec2 describe-instance-status --region us-west-2',
    }),
    evidence({
      layer: 'platform',
      object: 'Node ip-10-0-1-25.us-west-2.compute.internal',
      field: 'status.conditions[MemoryPressure]',
      value: 'Unknown',
    }),
  ],
  chain: [
    {
      object: 'Node ip-10-0-1-25.us-west-2.compute.internal',
      uid: 'b9c0a872-d15e-41fd-a497-38dcc2eb1419',
      claim: 'is silent',
    },
  ],
  layers: [
    { layer: 'cloud', status: 'implicated', because: 'its host fails' },
    { layer: 'platform', status: 'cleared', because: 'no pressure on the node, all add-on pods are ready' },
    { layer: 'app', status: 'unknown', missing: 'the log of solver', fix: 'grant get pods/log' },
  ],
  cannotShow: ['AWS Health can lag by hours'],
};
