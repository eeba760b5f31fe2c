import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/new-image-never-ready.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { claim, node, nodeClass, pool, running, subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const agent = (on: string, message: string) => {
  const made = running(`cni-${on}`, on, {
    namespace: 'kube-system',
    ownerReferences: [{ kind: 'DaemonSet', name: 'cni' }],
    status: { phase: 'Pending' },
  });
  return [made, event(made, 'Failed', message)];
};
const unpack = 'Failed to pull image "cni:1": failed to extract layer to soci: image unpack job has no layers';
const situation = (message = unpack, rest: Record<string, any> = {}) => [
  pod,
  pool('default'),
  nodeClass('default', {
    status: { amis: [{ id: 'ami-new', name: 'amazon-eks-node-al2023-x86_64-standard-1.33-v20261118' }] },
    ...rest,
  }),
  ...['n1', 'n2'].flatMap((name) => [
    node(name, { pool: 'default', ready: 'False', age: 20 }),
    claim(`c-${name}`, 'default', { node: name, image: 'ami-new' }),
    ...agent(name, message),
  ]),
  node('n3', { pool: 'default' }),
  claim('c-n3', 'default', { node: 'n3', image: 'ami-old' }),
];

test('all new nodes fail in the runtime, the old ones are well: the vendor’s image, pinning is the platform’s part', () => {
  const [finding] = findingsOf(rule, { subject, objects: situation() });
  expect(finding).toMatchObject({ owner: 'cloud', strength: 'derived', contributing: [{ owner: 'platform' }] });
});

test('an image of one’s own is the platform’s', () => {
  const own = situation(unpack, { status: { amis: [{ id: 'ami-new', name: 'golden-al2023-77' }] } });
  expect(findingsOf(rule, { subject, objects: own })[0]).toMatchObject({ owner: 'platform' });
});

test('silent for a registry’s refusal, a class changed since, and one bad node', () => {
  expectSilent(rule, { subject, objects: situation('Failed to pull image "cni:1": 429 toomanyrequests') });
  const touched = situation();
  touched[2]!.metadata.managedFields = [{ manager: 'terraform', operation: 'Update', time: minutesAgo(25) }];
  expectSilent(rule, { subject, objects: touched });
  expectSilent(rule, { subject, objects: situation().filter((object) => !/n2/.test(object.metadata.name)) });
});
