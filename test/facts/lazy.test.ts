import { expect, test } from 'vitest';
import { lazily, onceFor } from '../../src/facts/lazy.ts';

test('a value is made when it is first asked for, and only then', () => {
  let made = 0;
  const value = lazily(() => {
    made++;
    return undefined;
  });
  expect(made).toBe(0);
  expect([value(), value(), made]).toEqual([undefined, undefined, 1]);
});

test('a view is made once for each thing it is a view of', () => {
  const seen: object[] = [];
  const view = onceFor((of: { name: string }) => {
    seen.push(of);
    return [of.name];
  });
  const [one, same] = [{ name: 'a' }, { name: 'a' }];
  expect(view(one)).toBe(view(one));
  expect(view(same)).toEqual(['a']);
  expect(seen).toEqual([one, same]);
});

test('nobody changes what all share', () => {
  const view = onceFor((of: { names: string[] }) => of.names.map((name) => name));
  expect(() => view({ names: ['b', 'a'] }).sort()).toThrow(TypeError);
});
