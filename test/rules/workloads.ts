import type { ContainerLog, Series } from '../../src/domain/facts.ts';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import { condition, now, object } from './harness.ts';

export const minutesAgo = (minutes: number): string =>
  new Date(Date.parse(now) - minutes * 60_000).toISOString().replace('.000Z', 'Z');

export interface WorkloadOptions {
  namespace?: string;
  image?: string;
  /** Extra fields of the only container, `app`. */
  container?: Record<string, any>;
  /** Extra fields of the pod spec. */
  spec?: Record<string, any>;
  replicas?: number;
  /** Age of the current ReplicaSet in minutes. */
  age?: number;
  /** Container fields and image of the former revision; absent: there is none. */
  before?: { image?: string; container?: Record<string, any>; spec?: Record<string, any> };
  labels?: Record<string, string>;
  meta?: Record<string, any>;
}

/** A Deployment with its current ReplicaSet and, where asked for, the former one. */
export const deployment = (name: string, options: WorkloadOptions = {}): KubeObject[] => {
  const { namespace = 'shop', replicas = 2, age = 30 } = options;
  const template = (image: string, container = {}, spec = {}) => ({
    metadata: { labels: { app: name, ...options.labels } },
    spec: { containers: [{ name: 'app', image, resources: {}, ...container }], ...spec },
  });
  const current = template(options.image ?? `registry.example/${name}:2`, options.container, options.spec);
  const owner = [{ kind: 'Deployment', name, uid: `uid-Deployment-${name}`, controller: true }];
  const set = (revision: number, minutes: number, spec: any, count: number): KubeObject =>
    object('ReplicaSet', `${name}-${revision}`, {
      apiVersion: 'apps/v1',
      namespace,
      ownerReferences: owner,
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      creationTimestamp: minutesAgo(minutes),
      spec: { replicas: count, template: spec },
    });
  return [
    object('Deployment', name, {
      apiVersion: 'apps/v1',
      namespace,
      creationTimestamp: minutesAgo(60 * 24 * 90),
      spec: { replicas, selector: { matchLabels: { app: name } }, template: current },
      status: {},
      ...options.meta,
    }),
    set(2, age, current, replicas),
    ...(options.before
      ? [
          set(
            1,
            60 * 24 * 30,
            template(
              options.before.image ?? `registry.example/${name}:1`,
              options.before.container,
              options.before.spec,
            ),
            0,
          ),
        ]
      : []),
  ];
};

export interface PodOptions {
  namespace?: string;
  node?: string;
  revision?: number;
  ready?: boolean;
  status?: Record<string, any>;
  container?: Record<string, any>;
  containers?: any[];
  spec?: Record<string, any>;
  age?: number;
  labels?: Record<string, string>;
}

/** A pod of such a Deployment, its container status given or running. */
export const podOf = (name: string, suffix: string, options: PodOptions = {}): KubeObject => {
  const { namespace = 'shop', revision = 2, ready = true, age = 25 } = options;
  return object('Pod', `${name}-${revision}-${suffix}`, {
    namespace,
    creationTimestamp: minutesAgo(age),
    labels: { app: name, 'pod-template-hash': String(revision), ...options.labels },
    ownerReferences: [
      { kind: 'ReplicaSet', name: `${name}-${revision}`, uid: `uid-ReplicaSet-${name}-${revision}`, controller: true },
    ],
    spec: {
      nodeName: options.node ?? 'node-1',
      containers: options.containers ?? [
        { name: 'app', image: `registry.example/${name}:${revision}`, resources: {}, ...options.container },
      ],
      ...options.spec,
    },
    status: {
      phase: 'Running',
      conditions: [condition('Ready', ready ? 'True' : 'False')],
      containerStatuses: [
        { name: 'app', ready, restartCount: 0, state: { running: { startedAt: minutesAgo(age) } }, ...options.status },
      ],
    },
  });
};

/** Container status of one that waits to be restarted after an end. */
export const crashing = (exitCode: number, reason = 'Error', restartCount = 7, message?: string) => ({
  ready: false,
  restartCount,
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container=app' } },
  lastState: { terminated: { exitCode, reason, message, finishedAt: minutesAgo(3), startedAt: minutesAgo(5) } },
});

export const node = (name: string, rest: Record<string, any> = {}): KubeObject =>
  object('Node', name, {
    labels: { 'kubernetes.io/arch': 'amd64', ...rest.labels },
    creationTimestamp: rest.creationTimestamp ?? minutesAgo(60 * 24 * 5),
    status: {
      conditions: [condition('Ready', 'True'), ...(rest.conditions ?? [])],
      allocatable: { memory: '15Gi' },
      capacity: { memory: '16Gi' },
    },
  });

export const logOf = (pod: KubeObject, text: string, rest: Partial<ContainerLog> = {}): ContainerLog => ({
  namespace: pod.metadata.namespace ?? '',
  pod: pod.metadata.name,
  container: 'app',
  previous: false,
  text,
  ...rest,
});

/** One point every five minutes, the last one now. */
export const series = (name: string, labels: Record<string, string>, values: number[]): Series => {
  const end = Date.parse(now) / 1000;
  return { name, labels, points: values.map((value, index) => [end - (values.length - 1 - index) * 300, value]) };
};
