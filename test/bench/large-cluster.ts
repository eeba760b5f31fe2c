import type { Facts } from '../../src/domain/facts.ts';
import type { KubeObject } from '../../src/domain/kubernetes.ts';

/** A case's facts among the objects of a cluster of the given size: nodes, workloads, pods, and their events. */
export const enlarge = (facts: Facts, nodes: number, pods: number): Facts => {
  const objects: KubeObject[] = [...facts.objects];
  for (let n = 0; n < nodes; n++) objects.push(node(n));
  const workloads = Math.ceil(pods / 10);
  for (let w = 0; w < workloads; w++) {
    const [deployment, replicaSet] = workload(w);
    objects.push(deployment!, replicaSet!);
    for (let p = 0; p < 10 && w * 10 + p < pods; p++) {
      const pod = podOf(replicaSet!, w * 10 + p, nodes);
      objects.push(pod);
      if (p === 0) objects.push(eventOf(pod));
    }
  }
  return { ...facts, objects };
};

const created = '2026-11-01T00:00:00Z';

const node = (n: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `bench-node-${n}`,
    uid: `bench-node-uid-${n}`,
    creationTimestamp: created,
    labels: {
      'topology.kubernetes.io/zone': `us-west-2${'abc'[n % 3]}`,
      'node.kubernetes.io/instance-type': 'm6a.2xlarge',
    },
  },
  spec: { providerID: `aws:///us-west-2a/i-0bench${n}` },
  status: {
    allocatable: { cpu: '7910m', memory: '30Gi', pods: '58' },
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: created }],
  },
});

const workload = (w: number): KubeObject[] => {
  const namespace = `bench-${w % 50}`;
  const labels = { app: `app-${w}` };
  const template = {
    metadata: { labels },
    spec: {
      containers: [
        { name: 'app', image: `registry.example.com/app-${w}:1.0.0`, resources: { requests: { cpu: '100m' } } },
      ],
    },
  };
  const deployment: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `app-${w}`, namespace, uid: `bench-deployment-${w}`, creationTimestamp: created, labels },
    spec: { replicas: 10, selector: { matchLabels: labels }, template },
    status: { replicas: 10, readyReplicas: 10, availableReplicas: 10 },
  };
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: `app-${w}`,
    uid: `bench-deployment-${w}`,
    controller: true,
  };
  return [
    deployment,
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `app-${w}-rs`,
        namespace,
        uid: `bench-rs-${w}`,
        creationTimestamp: created,
        labels,
        ownerReferences: [owner],
      },
      spec: { replicas: 10, selector: { matchLabels: labels }, template },
      status: { replicas: 10, readyReplicas: 10 },
    },
  ];
};

const podOf = (set: KubeObject, p: number, nodes: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `${set.metadata.name}-${p}`,
    namespace: set.metadata.namespace,
    uid: `bench-pod-${p}`,
    creationTimestamp: created,
    labels: set.metadata.labels,
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set.metadata.name, uid: set.metadata.uid, controller: true },
    ],
  },
  spec: { nodeName: `bench-node-${p % nodes}`, containers: set.spec.template.spec.containers },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: created }],
    containerStatuses: [
      {
        name: 'app',
        ready: true,
        restartCount: 0,
        state: { running: { startedAt: created } },
        image: 'registry.example.com/app:1.0.0',
      },
    ],
  },
});

const eventOf = (pod: KubeObject): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: {
    name: `${pod.metadata.name}.1`,
    namespace: pod.metadata.namespace,
    uid: `event-${pod.metadata.uid}`,
    creationTimestamp: created,
  },
  involvedObject: { kind: 'Pod', name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid },
  type: 'Normal',
  reason: 'Pulled',
  message: 'Successfully pulled image',
  count: 1,
  firstTimestamp: created,
  lastTimestamp: created,
  reportingComponent: 'kubelet',
});
