import type { Alert } from '../../src/domain/alert.ts';
import type { ContainerLog, ProbeAnswer, Series } from '../../src/domain/facts.ts';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import { condition, object } from './harness.ts';

/** Situations around nodes and the control plane, at 08:30 of the harness's day. */
export const at = (time: string): string => `2026-11-20T${time}:00Z`;

export const alert = (alertname: string, labels: Record<string, string> = {}, description = ''): Alert => ({
  status: 'firing',
  labels: { alertname, ...labels },
  annotations: { description },
  startsAt: at('08:20'),
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: alertname,
});

export const probe = (status: number, body = 'ok', latencyMs = 12): ProbeAnswer => ({
  path: 'readyz',
  status,
  body,
  latencyMs,
});

export const lease = (name: string, renewTime: string, namespace = 'kube-node-lease'): KubeObject =>
  object('Lease', name, { namespace, spec: { renewTime, holderIdentity: `${name}-holder` } });

type Ready = 'True' | 'False' | 'Unknown';

export const node = (name: string, ready: Ready = 'True', rest: Record<string, any> = {}): KubeObject => {
  const {
    message = ready === 'Unknown' ? 'Kubelet stopped posting node status.' : '',
    zone = 'us-west-2a',
    id,
    conditions = [],
    labels,
    info,
    since = at('08:10'),
    ...fields
  } = rest;
  return object('Node', name, {
    creationTimestamp: '2026-11-01T00:00:00Z',
    labels: { 'topology.kubernetes.io/zone': zone, ...labels },
    spec: { providerID: id ? `aws:///${zone}/${id}` : undefined, ...fields.spec },
    status: {
      conditions: [condition('Ready', ready, '', message, since), ...conditions],
      nodeInfo: info ?? {},
      allocatable: fields.allocatable ?? {},
    },
    ...fields.meta,
  });
};

export const pod = (name: string, nodeName: string | undefined, rest: Record<string, any> = {}): KubeObject => {
  const { namespace = 'shop', ready = 'True', phase = nodeName ? 'Running' : 'Pending', ...fields } = rest;
  return object('Pod', name, {
    namespace,
    creationTimestamp: at('08:00'),
    ...fields,
    spec: { nodeName, containers: [{ name: 'app' }], ...fields.spec },
    status: { phase, conditions: [condition('Ready', ready)], ...fields.status },
  });
};

export const log = (podName: string, text: string, namespace = 'kube-system'): ContainerLog => ({
  namespace,
  pod: podName,
  container: 'app',
  previous: false,
  text,
});

/** A series with one point a minute that ends now. */
export const series = (name: string, labels: Record<string, string>, values: number[]): Series => {
  const end = Date.parse(at('08:30')) / 1000;
  return { name, labels, points: values.map((value, index) => [end - (values.length - 1 - index) * 60, value]) };
};

export const owned = (kind: string, name: string) => ({
  ownerReferences: [{ kind, name, uid: `uid-${kind}-${name}`, controller: true }],
});
