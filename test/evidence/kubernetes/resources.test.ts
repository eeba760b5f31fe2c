import { describe, expect, it } from 'vitest';
import { type ReadableResource, refuseSecrets, resources } from '../../../src/triage/resources.ts';

describe('the resources that triage reads', () => {
  const all = Object.entries<ReadableResource>(resources);

  it('hold no Secret', () => {
    // An ExternalSecret says where a value comes from and holds none.
    expect(
      all.filter(([, { group, plural, kind }]) => kind === 'Secret' || (group === '' && /secret/i.test(plural))),
    ).toEqual([]);
  });

  it('are each named by their plural, with a version and a kind', () => {
    for (const [name, { plural, version, kind, group }] of all) {
      // Two groups may share a plural; the catalogue's own name then tells them apart.
      expect(name.endsWith(plural)).toBe(true);
      expect(version).toMatch(/^v\d+((alpha|beta)\d+)?$/);
      expect(kind).toMatch(/^[A-Z][A-Za-z0-9]+$/);
      expect(group).toMatch(/^([a-z0-9-]+(\.[a-z0-9-]+)*)?$/);
    }
  });

  it.each(['secrets', 'secrets/status'])('%s is refused however it is spelt', (plural) => {
    expect(() => refuseSecrets({ group: '', version: 'v1', plural, kind: 'Whatever' })).toThrow();
    expect(() => refuseSecrets({ group: '', version: 'v1', plural: 'whatever', kind: 'Secret' })).toThrow();
  });
});
