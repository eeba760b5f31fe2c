import type { Gap, LayerFacts, ReadRecord } from '../../domain/facts.ts';
import type { Layer } from '../../domain/layer.ts';
import { isAddOn } from '../resources.ts';

/** Calls of one kind of gap that are named one by one; more are counted. */
const namedCalls = 4;

/**
 * What a layer could not read, as a person is told: each gap once; the cloud calls that one missing right or reader
 * explains in one line, and so the kinds a snapshot lacks. An object that does not exist was read, and that is the
 * answer; an add-on whose kinds a snapshot lacks is most likely one the cluster does not have.
 */
export const gapsOf = (facts: Pick<LayerFacts, 'reads'>): { missing: string; fix: string }[] => {
  const gaps = facts.reads.filter((read) => read.gap && read.gap.reason !== 'not-found');
  const cloud = gaps.filter((read) => read.source === 'aws' || read.source === 'cloudwatch');
  const uncollected = gaps.filter(({ source, gap }) => source === 'kubernetes' && gap!.reason === 'not-collected');
  const unafforded = gaps.filter(({ gap }) => gap!.reason === 'over-budget');
  const others = gaps
    .filter((read) => !cloud.includes(read) && !uncollected.includes(read) && !unafforded.includes(read))
    .map((read) => told(read.gap!));
  const byReason = Object.values(Object.groupBy(cloud, (read) => read.gap!.reason)).filter(
    (group) => group !== undefined,
  );
  const grouped = byReason.map((group) => {
    const [first] = group;
    if (group.length === 1) return told(first!.gap!);
    const names = group.slice(0, namedCalls).map((read) => read.what);
    const more = group.length > namedCalls ? ` and ${group.length - namedCalls} more` : '';
    const why = first!.gap!.reason === 'forbidden' ? 'not allowed' : first!.gap!.message;
    return { missing: `cloud calls ${names.join(', ')}${more}: ${why}`, fix: fixOf(first!.gap!) };
  });
  return [
    ...new Map(
      [...others, ...lackedBy(uncollected), ...beyondCalls(unafforded), ...grouped].map((gap) => [
        `${gap.missing}\n${gap.fix}`,
        gap,
      ]),
    ).values(),
  ];
};

/** The kinds that a snapshot lacks, in one line. */
const lackedBy = (uncollected: ReadRecord[]): { missing: string; fix: string }[] => {
  const kinds = [...new Set(uncollected.map((read) => read.what))].filter((plural) => !isAddOn(plural));
  if (kinds.length === 0) return [];
  const first = uncollected.find((read) => read.what === kinds[0]);
  const fix =
    kinds.length === 1 && first ? first.gap!.fix : `kubectl get ${kinds.join(',')} -A -o json > cluster/more.json`;
  return [{ missing: `the snapshot lacks ${kinds.join(', ')}`, fix }];
};

/** What the triage's calls did not suffice for, in one line; the first would have told most. */
const beyondCalls = (unafforded: ReadRecord[]): { missing: string; fix: string }[] => {
  const [first] = unafforded;
  if (!first) return [];
  const names = [...new Set(unafforded.map(({ what, namespace }) => (namespace ? `${what} in ${namespace}` : what)))];
  const why = first.gap!.message.replace(/^.*?: not read, /, '');
  return [{ missing: `not read: ${names.join(', ')}; ${why}`, fix: first.gap!.fix }];
};

/** Kinds that no layer read, since nothing in the incident spoke for it: no gap, but not read either. */
export const skippedOf = (batches: LayerFacts[]): { layer: Layer; missing: string; fix: string }[] => {
  const tried = new Set(batches.flatMap(({ reads }) => reads.map(({ what }) => what)));
  return batches.flatMap(({ layer, skipped = [] }) => {
    const kinds = skipped.filter((what) => !tried.has(what));
    for (const what of kinds) tried.add(what);
    return kinds.length > 0
      ? [
          {
            layer,
            missing: `not asked for, since nothing in the incident speaks of them: ${kinds.join(', ')}`,
            fix: '',
          },
        ]
      : [];
  });
};

const told = (gap: Gap): { missing: string; fix: string } => ({ missing: gap.message, fix: gap.fix });

const fixOf = (gap: Gap): string =>
  gap.reason === 'forbidden' ? 'allow them to the read role of this account' : gap.fix;
