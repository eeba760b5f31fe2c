import type { Check, CheckGroup } from './check.ts';

/** Groups as text: what failed in full with its fix, what is in order by number, the connection always. */
export function formatChecks(groups: CheckGroup[]): string {
  return groups.map(formatGroup).join('\n\n');
}

function formatGroup({ title, checks }: CheckGroup): string {
  const [first, ...others] = checks;
  const failed = others.filter(({ status }) => status === 'failed');
  const count = (status: Check['status']): number => others.filter((check) => check.status === status).length;
  const summary = [
    ...(count('ok') > 0 ? [`  ok      ${count('ok')} of ${others.length} permissions and settings in order`] : []),
    ...(count('skipped') > 0 ? [`  skipped ${count('skipped')} that this installation does not have`] : []),
  ];
  return [title, ...(first ? [formatCheck(first)] : []), ...failed.map(formatCheck), ...summary].join('\n');
}

const formatCheck = ({ name, status, detail, fix }: Check): string =>
  `  ${status.padEnd(7)} ${name}: ${detail}${fix ? `\n          fix: ${fix}` : ''}`;
