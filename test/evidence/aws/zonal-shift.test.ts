import { describe, expect, it } from 'vitest';
import { questionAbout } from './question.ts';
import { withAws } from './with-aws.ts';

const question = questionAbout();
const at = (iso: string): number => Date.parse(iso) / 1000;

describe('zonal shifts', () => {
  it('are asked for in signed requests, page by page, and their times are texts', () =>
    withAws(
      {
        'arc-zonal-shift.listAutoshifts': ({ nextToken }) => ({
          body: nextToken
            ? { items: [{ awayFrom: 'usw2-az2', startTime: at('2026-11-20T08:06:00Z'), status: 'ACTIVE' }] }
            : {
                items: [{ awayFrom: 'usw2-az1', startTime: at('2026-11-20T08:05:00Z'), status: 'ACTIVE' }],
                nextToken: 'two',
              },
        }),
      },
      async ({ api, open }) => {
        expect(await open().call('arc-zonal-shift.listAutoshifts', question)).toMatchObject({
          ok: true,
          value: {
            answer: {
              items: [
                { awayFrom: 'usw2-az1', startTime: '2026-11-20T08:05:00Z' },
                { awayFrom: 'usw2-az2', startTime: '2026-11-20T08:06:00Z' },
              ],
            },
          },
        });
        expect(api.requests.find(({ call }) => call === 'arc-zonal-shift.listAutoshifts')?.parameters).toMatchObject({
          status: 'ACTIVE',
        });
      },
    ));

  it('that may not be listed are a gap that names the permission', () =>
    withAws({}, async ({ open }) => {
      expect(await open().call('arc-zonal-shift.listZonalShifts', question)).toMatchObject({
        ok: false,
        gap: { reason: 'forbidden', fix: /arc-zonal-shift:ListZonalShifts/ },
      });
    }));
});
