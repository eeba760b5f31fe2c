import type { LayerFacts } from '../../src/domain/facts.ts';
import type { Layer, Owner } from '../../src/domain/layer.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import type { LayerReading, Routing } from '../../src/domain/view.ts';
import type { CorrelatedAlert, IncomingNotification } from '../../src/incidents/ports.ts';

/** Minutes after the start of the tests' day. */
export const minute = (minutes: number): string => new Date(Date.UTC(2026, 2, 2) + minutes * 60_000).toISOString();

interface AlertSample {
  key?: string;
  fingerprint?: string;
  status?: 'firing' | 'resolved';
  startsAt?: string;
  endsAt?: string;
  severity?: CorrelatedAlert['severity'];
  labels?: Record<string, string>;
  heartbeat?: boolean;
}

export const alert = ({
  key = 'Deployment/shop/cart',
  fingerprint = 'f1',
  status = 'firing',
  startsAt = minute(0),
  endsAt = status === 'resolved' ? minute(5) : '0001-01-01T00:00:00Z',
  severity = 'critical',
  labels = {},
  heartbeat = false,
}: AlertSample = {}): CorrelatedAlert => ({
  alert: {
    status,
    labels: { alertname: 'KubePodCrashLooping', namespace: 'shop', ...labels },
    annotations: { summary: 'restarts' },
    startsAt,
    endsAt,
    fingerprint,
  },
  cluster: 'prod-1',
  correlationKey: key,
  subject: { cluster: 'prod-1', kind: 'Deployment', namespace: 'shop', name: 'cart' },
  severity,
  heartbeat,
});

export const notification = (
  receivedAt: string,
  alerts: CorrelatedAlert[],
  more: Partial<IncomingNotification> = {},
): IncomingNotification => ({
  receivedAt,
  receiver: 'faultline',
  groupKey: '{}:{namespace="shop"}',
  externalURL: 'http://alertmanager:9093',
  truncatedAlerts: 0,
  alerts,
  rejected: [],
  ...more,
});

export const facts = (layer: Layer, readAt = minute(1)): LayerFacts => ({
  layer,
  cluster: { name: 'prod', provider: 'eks' },
  readAt,
  objects: [{ kind: 'Pod', metadata: { name: `pod-of-${layer}`, namespace: 'shop', uid: 'u1' } }],
  logs: [],
  series: [],
  cloudWatch: [],
  cloud: [],
  probes: [],
  reads: [{ source: 'kubernetes', what: 'pods', namespace: 'shop', complete: true, count: 1 }],
  apiCalls: 3,
});

export const reading = (layer: Layer, readAt = minute(1)): LayerReading => ({
  layer,
  readAt,
  apiCalls: 3,
  gaps: [],
  observations: [],
});

export const verdict = (owner: Owner, cause = 'The container exits with code 1.'): Verdict => ({
  state: 'fault',
  owner,
  boundary: 'application',
  confidence: 'high',
  cause: { en: cause },
  rule: 'container-crash',
  contributing: [],
  evidence: [],
  chain: [],
  layers: [],
  missing: [],
  nextSteps: [],
  cannotShow: [],
  wouldChange: [],
  impact: '1 of 3 pods',
  onset: minute(0),
  deadline: null,
  ruleSet: 'abc123',
});

export const routing = (owner: Owner): Routing => ({
  owner,
  party: owner,
  knownBy: 'label team=media on Deployment media/preview',
  mention: null,
  channel: null,
});
