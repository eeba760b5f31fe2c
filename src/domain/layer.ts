/** The three layers, in the order in which they are ruled out. */
export const layers = ['cloud', 'platform', 'app'] as const;
export type Layer = (typeof layers)[number];

/** Who has to act to end the incident. */
export type Owner = Layer | 'undetermined';

export type Confidence = 'high' | 'medium' | 'low';

/** `expected` looks like a fault and is normal; `over` ended by itself. */
export type VerdictState = 'fault' | 'expected' | 'over';

/** Where the fault sits. */
export const boundaries = [
  'control-plane',
  'etcd',
  'zone',
  'network',
  'storage',
  'node',
  'capacity',
  'provisioning',
  'scheduling',
  'quota',
  'admission',
  'dns',
  'image',
  'config',
  'probe',
  'application',
  'traffic',
  'autoscaling',
] as const;
export type Boundary = (typeof boundaries)[number];

export const providers = ['eks', 'eks-auto', 'gke', 'aks', 'ack', 'self'] as const;
export type Provider = (typeof providers)[number];
