import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/volume-mount-refused.ts';
import { at, node, owned, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' } as const;
const deployment = object('Deployment', 'web', { namespace: 'shop' });
const held = (ready = 'False') =>
  pod('web-1', 'n1', { ...owned('Deployment', 'web'), phase: 'Pending', ready, spec: { volumes: [{ name: 'data' }] } });
const said = (message: string, reason = 'FailedMount', time = at('08:25')) =>
  event(held(), reason, `MountVolume.SetUp failed for volume "data" : ${message}`, { at: time });
const of = (message: string) =>
  findingsOf(rule, { subject, objects: [deployment, node('n1'), held(), said(message)] })[0];

test.each([
  [
    'rpc error: code = Internal desc = Could not mount "fs-0a:/" at "/x": mount.nfs4: access denied by server while mounting 127.0.0.1:/',
    'platform',
    'storage',
  ],
  ['mount failed: exit status 32 Output: mount.nfs: Connection timed out', 'platform', 'network'],
  [
    'Could not mount "fs-0a:/": Failed to resolve "fs-0a.efs.us-west-2.amazonaws.com" - check that your file system ID is correct',
    'platform',
    'network',
  ],
  [
    "rpc error: code = Internal desc = 'fsck' found errors on device /dev/nvme1n1 but could not correct them",
    'platform',
    'storage',
  ],
  ['mount: /x: wrong fs type, bad option, bad superblock on /dev/nvme1n1', 'platform', 'storage'],
  ['mounting 10.0.0.9:/exports/web failed, reason given by server: No such file or directory', 'app', 'storage'],
  [
    'rpc error: code = Unknown desc = failed to mount secrets store objects for pod shop/web-1, err: rpc error: AccessDeniedException: not authorized to perform: secretsmanager:GetSecretValue',
    'app',
    'config',
  ],
  [
    'rpc error: code = Unknown desc = failed to mount secrets store objects for pod shop/web-1, err: ResourceNotFoundException: Secrets Manager can’t find the secret',
    'app',
    'config',
  ],
  [
    'rpc error: code = Unknown desc = failed to mount secrets store objects for pod shop/web-1, err: error connecting to provider "aws": provider not found: provider "aws"',
    'platform',
    'config',
  ],
  ['hostPath type check failed: /data is not a directory', 'app', 'config'],
])('%s', (message, owner, boundary) => {
  expect(of(message)).toMatchObject({ owner, boundary, mechanism: 'volume' });
});

test('stays silent on missing ConfigMaps, other stages, pods that run, and attempts of long ago', () => {
  expect(of('configmap "settings" not found')).toBeUndefined();
  const refused = 'mount.nfs: access denied by server while mounting 10.0.0.9:/';
  const silent = (...objects: any[]) => expectSilent(rule, { subject, objects: [deployment, node('n1'), ...objects] });
  silent(held(), said(refused, 'FailedAttachVolume'));
  silent(held('True'), said(refused));
  silent(held(), said(refused, 'FailedMount', at('06:30')));
});
