import { expect, test } from 'vitest';
import { text } from '../../src/domain/text.ts';
import { count, worded } from '../../src/domain/wording.ts';

test.each([
  ['1 pods wait for a node', '1 pod waits for a node'],
  ['2 silent nodes, 1 failed launches all sit there', '2 silent nodes, 1 failed launch all sit there'],
  ['1 other pods run on the same nodes', '1 other pod runs on the same nodes'],
  ['1 nodes are not Ready; 1 pods still work', '1 node is not Ready; 1 pod still works'],
  ['1 of 5 pods are ready', '1 of 5 pods are ready'],
  ['1 node and its pods wait', '1 node and its pods wait'],
  ['1 node holds pods of 3 teams', '1 node holds pods of 3 teams'],
  ['11 pods wait, v1.1 nodes run, 3.1 nodes fail', '11 pods wait, v1.1 nodes run, 3.1 nodes fail'],
  ['1 min later pods wait', '1 min later pods wait'],
])('%s', (written, read) => {
  expect(worded(written)).toBe(read);
});

test('a time is a date and a clock with its zone', () => {
  expect(text('silent since 2026-11-20T08:10:18.418223Z, 80 s before').en).toBe(
    'silent since 2026-11-20 08:10:18 UTC, 80 s before',
  );
});

test("the machine's own words stay as they are", () => {
  const message = 'the scheduler says "0/1 nodes are available: 1 nodes are full at 2026-11-20T08:10:18Z"';
  expect(worded(message)).toBe(message);
  expect(worded('run `x --since 2026-11-20T08:10:18Z`')).toBe('run `x --since 2026-11-20T08:10:18Z`');
  expect(worded('0/1 nodes are available')).toBe('0/1 nodes are available');
});

test('a count agrees with what is counted', () => {
  expect([count(1, 'pod'), count(3, 'pod'), count(2, 'address', 'addresses')]).toEqual([
    '1 pod',
    '3 pods',
    '2 addresses',
  ]);
});
