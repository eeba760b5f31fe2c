import { expect, test } from 'vitest';
import rule from '../../src/rules/app/ingress-breaks-controller.ts';
import { findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'ingress-nginx-controller', namespace: 'ingress-nginx' };
const ingress = (snippet: string, namespace = 'parking', age = 50) => {
  const made = object('Ingress', 'web', {
    namespace,
    annotations: { 'nginx.ingress.kubernetes.io/configuration-snippet': snippet },
  });
  made.metadata.managedFields = [{ manager: 'parking-deploy', operation: 'Update', time: minutesAgo(age) }];
  return made;
};
const judged = (line: string, ...ingresses: ReturnType<typeof ingress>[]) => {
  const pod = podOf('ingress-nginx-controller', 'a', { namespace: 'ingress-nginx' });
  return findingsOf(rule, {
    subject,
    objects: [...deployment('ingress-nginx-controller', { namespace: 'ingress-nginx' }), pod, ...ingresses],
    logs: [logOf(pod, line)],
  });
};
const unknown =
  '2026/11/20 08:27:31 [emerg] 311#311: unknown directive "more_set_headrs" in /tmp/nginx/nginx-cfg29:1187';

test('the Ingress that holds the word which nginx stumbles over is the root, and its owner’s', () => {
  const [finding] = judged(unknown, ingress('more_set_headrs "X: y";'), ingress('more_set_headers "X: y";', 'library'));
  expect(finding).toMatchObject({
    owner: 'app',
    strength: 'direct',
    root: { namespace: 'parking' },
    onset: minutesAgo(50),
  });
  expect(finding!.contributing[0]?.owner).toBe('platform');
  const arguments_ =
    '[emerg] 9#9: invalid number of arguments in "proxy_read_timeout" directive in /tmp/nginx/nginx-cfg:9';
  expect(judged(arguments_, ingress('proxy_read_timeout;'))).toHaveLength(1);
});

test('of several that hold it, the one changed last', () => {
  const [finding] = judged(unknown, ingress('more_set_headrs', 'old', 9000), ingress('more_set_headrs', 'parking', 20));
  expect(finding?.root.namespace).toBe('parking');
});

test('stays silent where no Ingress holds the word, and where nginx loads its configuration', () => {
  expect(judged(unknown, ingress('more_set_headers "X: y";'))).toEqual([]);
  expect(judged('I1120 Backend successfully reloaded', ingress('more_set_headrs'))).toEqual([]);
});
