import type { KubeObject } from '../../src/domain/kubernetes.ts';
import { condition, event, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

export interface PoolOptions {
  types?: string[];
  zones?: string[];
  labels?: Record<string, string>;
  taints?: any[];
  requirements?: any[];
  limits?: Record<string, string>;
  used?: Record<string, string>;
  nodeClass?: string;
  classKind?: string;
  weight?: number;
  conditions?: any[];
  /** Minutes since the spec was last written. */
  written?: number;
}

const within = (key: string, values: string[] | undefined): any[] => (values ? [{ key, operator: 'In', values }] : []);

export const pool = (name: string, options: PoolOptions = {}): KubeObject => {
  const made = object('NodePool', name, {
    apiVersion: 'karpenter.sh/v1',
    creationTimestamp: minutesAgo(60 * 24 * 60),
    spec: {
      weight: options.weight,
      limits: options.limits ?? { cpu: '100' },
      template: {
        metadata: { labels: options.labels ?? {} },
        spec: {
          nodeClassRef: { kind: options.classKind ?? 'EC2NodeClass', name: options.nodeClass ?? 'default' },
          taints: options.taints,
          requirements: [
            ...within('node.kubernetes.io/instance-type', options.types),
            ...within('topology.kubernetes.io/zone', options.zones),
            ...(options.requirements ?? []),
          ],
        },
      },
    },
    status: { resources: options.used ?? { cpu: '8' }, conditions: options.conditions ?? [condition('Ready', 'True')] },
  });
  if (options.written !== undefined)
    made.metadata.managedFields = [{ manager: 'argocd', operation: 'Update', time: minutesAgo(options.written) }];
  return made;
};

export const nodeClass = (name: string, rest: Record<string, any> = {}): KubeObject =>
  object(rest.kind ?? 'EC2NodeClass', name, { apiVersion: 'karpenter.k8s.aws/v1', status: {}, ...rest });

export interface ClaimOptions {
  conditions?: any[];
  /** Age in minutes. */
  age?: number;
  deletedMinutesAgo?: number;
  node?: string;
  image?: string;
  type?: string;
}

export const claim = (name: string, poolName: string, options: ClaimOptions = {}): KubeObject => {
  const made = object('NodeClaim', name, {
    apiVersion: 'karpenter.sh/v1',
    labels: { 'karpenter.sh/nodepool': poolName, 'node.kubernetes.io/instance-type': options.type ?? 'm6a.xlarge' },
    creationTimestamp: minutesAgo(options.age ?? 60),
    spec: { nodeClassRef: { kind: 'EC2NodeClass', name: 'default' } },
    status: {
      conditions:
        options.conditions ?? ['Launched', 'Registered', 'Initialized'].map((type) => condition(type, 'True')),
      nodeName: options.node,
      imageID: options.image,
      providerID: options.node ? `aws:///us-west-2a/i-${name}` : undefined,
    },
  });
  if (options.deletedMinutesAgo !== undefined) made.metadata.deletionTimestamp = minutesAgo(options.deletedMinutesAgo);
  return made;
};

export interface NodeOptions {
  pool?: string;
  zone?: string;
  labels?: Record<string, string>;
  taints?: any[];
  ready?: 'True' | 'False' | 'Unknown';
  allocatable?: Record<string, string>;
  age?: number;
  unschedulable?: boolean;
  providerID?: string;
  info?: Record<string, string>;
}

export const node = (name: string, options: NodeOptions = {}): KubeObject =>
  object('Node', name, {
    creationTimestamp: minutesAgo(options.age ?? 60 * 24),
    labels: {
      'topology.kubernetes.io/zone': options.zone ?? 'us-west-2a',
      ...(options.pool ? { 'karpenter.sh/nodepool': options.pool } : {}),
      ...options.labels,
    },
    spec: { taints: options.taints, unschedulable: options.unschedulable, providerID: options.providerID },
    status: {
      allocatable: options.allocatable ?? { cpu: '3920m', memory: '14Gi', pods: '58' },
      conditions: [condition('Ready', options.ready ?? 'True')],
      nodeInfo: options.info ?? {},
    },
  });

export interface WaitingOptions {
  namespace?: string;
  spec?: Record<string, any>;
  /** What the scheduler says. */
  message?: string;
  owner?: KubeObject;
  age?: number;
  requests?: Record<string, string>;
}

/** A pod that no node has taken. */
export const waiting = (name: string, options: WaitingOptions = {}): KubeObject =>
  object('Pod', name, {
    namespace: options.namespace ?? 'shop',
    labels: { app: 'web' },
    creationTimestamp: minutesAgo(options.age ?? 25),
    ownerReferences: options.owner
      ? [
          {
            kind: options.owner.kind,
            name: options.owner.metadata.name,
            uid: options.owner.metadata.uid,
            controller: true,
          },
        ]
      : undefined,
    spec: {
      containers: [{ name: 'app', resources: { requests: options.requests ?? { cpu: '500m' } } }],
      ...options.spec,
    },
    status: {
      phase: 'Pending',
      conditions: [
        condition(
          'PodScheduled',
          'False',
          'Unschedulable',
          options.message ?? '0/2 nodes are available: 2 Insufficient cpu.',
        ),
      ],
    },
  });

export const running = (name: string, on: string, rest: Record<string, any> = {}): KubeObject =>
  object('Pod', name, {
    namespace: 'shop',
    labels: { app: 'web' },
    ...rest,
    spec: { nodeName: on, containers: [{ name: 'app', resources: {} }], ...rest.spec },
    status: rest.status ?? { phase: 'Running', conditions: [condition('Ready', 'True')] },
  });

/** Karpenter's own FailedScheduling about a pod. */
export const refused = (pod: KubeObject, text: string): KubeObject =>
  event(pod, 'FailedScheduling', `Failed to schedule pod, ${text}`, { source: 'karpenter' });

/** A claim whose launch failed with fleet errors; the claim itself is gone. */
export const launchFailed = (claimName: string, errors: string, at = minutesAgo(5)): KubeObject =>
  event(
    object('NodeClaim', claimName),
    'InsufficientCapacityError',
    `NodeClaim ${claimName} event: creating instance, insufficient capacity, with fleet error(s), ${errors}`,
    { source: 'karpenter', at },
  );

export const subjectOf = (pod: KubeObject) => ({
  kind: pod.kind,
  name: pod.metadata.name,
  namespace: pod.metadata.namespace,
});
