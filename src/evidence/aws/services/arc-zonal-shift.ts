import type { Service } from '../operation.ts';
import { restClient } from '../rest-client.ts';

/** The API writes times as seconds since 1970. */
const isoTime = (value: unknown): unknown =>
  typeof value === 'number' ? new Date(value * 1000).toISOString().replace('.000Z', 'Z') : value;

const timed = ({ items, ...rest }: any): any => ({
  ...rest,
  items: items.map((item: any) => ({
    ...item,
    ...Object.fromEntries(
      ['startTime', 'endTime', 'expiryTime'].filter((name) => item[name]).map((name) => [name, isoTime(item[name])]),
    ),
  })),
});

/**
 * Zones that AWS (autoshift) or the account (zonal shift) moves traffic away from now.
 * https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_Operations.html
 */
export const arcZonalShift: Service = {
  iam: 'arc-zonal-shift',
  budget: { perSecond: 1, burst: 4 },
  token: { from: 'nextToken', to: 'nextToken' },
  load: (settings) =>
    restClient(
      { signedAs: 'arc-zonal-shift', paths: { listAutoshifts: '/autoshifts', listZonalShifts: '/zonalshifts' } },
      settings,
    ),
  operations: {
    listAutoshifts: {
      standalone: true,
      requests: () => [{ status: 'ACTIVE', maxResults: 100 }],
      list: 'items',
      shape: timed,
    },
    listZonalShifts: {
      standalone: true,
      requests: () => [{ status: 'ACTIVE', maxResults: 100 }],
      list: 'items',
      shape: timed,
    },
  },
};
