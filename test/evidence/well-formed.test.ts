import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { awsFields } from '../../src/evidence/aws/field-types.ts';
import { kubernetesFields } from '../../src/evidence/kubernetes/field-types.ts';
import { fieldTypes, wellFormed } from '../../src/evidence/well-formed.ts';
import { casesFolder, objectsOf, readCase } from '../metamorphic/case-files.ts';

const types = fieldTypes({
  number: 'port count',
  flag: 'ready',
  texts: 'args',
  map: 'labels',
  quantities: 'limits',
  objects: 'conditions',
  object: 'spec',
  time: 'at',
  text: 'name port',
});
const read = (answer: unknown): unknown => wellFormed(answer, types);

describe('wellFormed', () => {
  it('gives the very same answer back where all is well', () => {
    const answer = {
      name: 'a',
      spec: { port: 80, args: ['x'], labels: { count: 'many' } },
      at: '2026-11-20T08:00:00Z',
    };
    expect(read(answer)).toBe(answer);
  });

  it.each([
    ['null', { name: null }, {}],
    ['an object for a text', { name: {} }, {}],
    ['a number for a text', { name: 7 }, { name: '7' }],
    ['either of two types', { spec: { port: 80 }, port: 'http' }, { spec: { port: 80 }, port: 'http' }],
    ['a text for a number', { count: '7' }, {}],
    ['a number of no meaning', { count: 1e300 }, {}],
    ['no time', { at: '9999-99-99T00:00:00Z' }, {}],
    ['a word for a flag', { ready: 'yes' }, {}],
    ['an object for a list', { conditions: {} }, {}],
    ['strangers in a list', { conditions: [null, 'x', [], { name: 1 }] }, { conditions: [{ name: '1' }] }],
    ['numbers among texts', { args: ['a', 7, null] }, { args: ['a', '7'] }],
    ['a list for a map', { labels: ['x'] }, {}],
    ['numbers and objects in a map', { labels: { a: 1, b: {}, name: null } }, { labels: { a: '1' } }],
    ['a number as a quantity', { limits: { cpu: 2, memory: '1Gi', pods: {} } }, { limits: { cpu: 2, memory: '1Gi' } }],
    ['names without a type', { odd: null, other: [null] }, { odd: null, other: [null] }],
  ])('reads %s as if it had not been sent', (_, answer, expected) => {
    expect(read(answer)).toEqual(expected);
  });

  it('cuts what nests deeper than any API', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`);
    expect(JSON.stringify(read(deep)).length).toBeLessThan(1000);
  });

  it('takes a name from a prototype for what it is: a name', () => {
    const odd = JSON.parse('{"__proto__": {"name": 7}, "labels": {"__proto__": "x", "constructor": 1}}');
    const clean = read(odd) as any;
    expect(JSON.stringify(clean)).toBe('{"__proto__":{"name":"7"},"labels":{"__proto__":"x","constructor":"1"}}');
    expect(({} as any).name).toBeUndefined();
  });
});

it('leaves every object and every cloud answer of the incident cases as it is', async () => {
  for (const id of await readdir(casesFolder)) {
    const files = await readCase(id);
    for (const { path, items } of objectsOf(files))
      for (const item of items) expect(wellFormed(item, kubernetesFields), `${id}/${path}`).toBe(item);
    for (const [call, answer] of Object.entries(JSON.parse(files.get('aws.json') ?? '{}')))
      expect(wellFormed(answer, awsFields), `${id} ${call}`).toBe(answer);
  }
});
