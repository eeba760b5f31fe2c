import { expect, it } from 'vitest';
import { namesInText } from '../../src/intake/names-in-text.ts';

const names = (description: string, labels: Record<string, string> = {}) =>
  namesInText({ labels, annotations: { description } }).map(
    ({ kind, namespace, name }) => `${kind ? `${kind} ` : ''}${namespace ?? ''}/${name}`,
  );

it.each([
  ['profile/api returns 5xx for 22% of requests.', { namespace: 'profile' }, ['profile/api']],
  ['Deployment shop/orders has not matched.', {}, ['Deployment shop/orders']],
  ['payment-orchestrator returns 5xx.', { namespace: 'checkout' }, ['checkout/payment-orchestrator']],
  ['payment-orchestrator returns 5xx.', {}, []],
  ['Lost (sessions/store).', { namespace: 'sessions' }, ['sessions/store']],
  ['a/one waits for b/two', { namespace: 'b' }, ['b/two', 'a/one']],
  [
    'The metrics duration on node ip-10-0-2-25.us-west-2.compute.internal',
    {},
    ['Node /ip-10-0-2-25.us-west-2.compute.internal'],
  ],
  ['of container resizer in pod resizer-f26-5nd', { namespace: 'images' }, ['Pod images/resizer-f26-5nd']],
  ['taint node.kubernetes.io/unreachable, 5/10 pods, see https://x.example.com/shop/orders', {}, []],
  ['Pod has been in a non-ready state on cluster prod-usw2.', { namespace: 'a', cluster: 'prod-usw2' }, []],
  ['', {}, []],
])('reads %j', (description, labels: Record<string, string>, expected) => {
  expect(names(description, labels)).toEqual(expected);
});

it.each(['a-', 'a.', 'a/b ', 'pod a-', '/', 'a:'])('reads 100,000 characters of %j in the time of reading', (shape) => {
  const started = performance.now();
  names(shape.repeat(100_000 / shape.length), { namespace: 'a' });
  // A pattern that begins anew at each of them needs ten.
  expect(performance.now() - started).toBeLessThan(3000);
});
