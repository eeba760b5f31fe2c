import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/nodes-never-register.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { claim, nodeClass, pool, subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const lost = (name: string, age: number) =>
  claim(name, 'default', {
    age,
    conditions: [
      condition('Launched', 'True'),
      condition('Registered', 'Unknown', 'NodeNotFound', 'Node not registered with cluster'),
    ],
  });
const failing = pool('default', {
  conditions: [
    condition('Ready', 'True'),
    condition('NodeRegistrationHealthy', 'False', 'RegistrationFailed', 'Failed to register node'),
  ],
});
const ami = (name: string) => ({ amis: [{ id: 'ami-1', name }] });

test('image and family disagree; Custom without a bootstrap; a role without an entry', () => {
  for (const [rest, words, cloud] of [
    [
      { spec: { amiFamily: 'Bottlerocket' }, status: ami('amazon-eks-node-al2023-x86_64-standard-1.33-v1') },
      'Bottlerocket',
      [],
    ],
    [{ spec: { amiFamily: 'AL2023' }, status: ami('bottlerocket-aws-k8s-1.33') }, 'bottlerocket', []],
    [
      { spec: { amiFamily: 'Custom', userData: '#!/bin/bash\ndnf install -y auditd' }, status: ami('golden-7') },
      'never bootstraps',
      [],
    ],
    [
      { spec: { role: 'nodes' } },
      'no access entry',
      [{ call: 'eks.listAccessEntries', answer: { accessEntries: ['arn:aws:iam::1:role/x'] } }],
    ],
  ] as any[]) {
    const [finding] = findingsOf(rule, {
      subject,
      cloud,
      objects: [pod, failing, nodeClass('default', rest), lost('default-a', 10), lost('default-b', 4)],
    });
    expect(finding).toMatchObject({ owner: 'platform', strength: 'direct' });
    expect(finding?.cause.en).toContain(words);
  }
});

test('derived where the class shows no fault', () => {
  const plain = nodeClass('default', { spec: { amiFamily: 'Custom', userData: 'nodeadm init' } });
  expect(
    findingsOf(rule, { subject, objects: [pod, failing, plain, lost('default-a', 10), lost('default-b', 12)] })[0],
  ).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('silent for machines that are minutes old', () => {
  expectSilent(rule, { subject, objects: [pod, pool('default'), lost('default-a', 3)] });
});
