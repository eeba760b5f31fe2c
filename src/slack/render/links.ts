import type { RichTextElement } from '@slack/types';
import type { IncidentView } from '../../domain/view.ts';
import { cost, webAddress } from '../legible.ts';
import { type Draft, link, plain } from './draft.ts';

interface Candidate {
  label: string;
  address: string;
}

/** Addresses count toward the message's budget, and Prometheus writes whole expressions into them. */
const budget = 1800;

const dashboards = (draft: Draft, annotations: Record<string, string>): Candidate[] =>
  Object.entries(annotations)
    .filter(([name]) => /dashboard|grafana|panel/i.test(name) && !/uid|id$/i.test(name))
    .map(([, address]) => {
      const safe = webAddress(address);
      return { label: draft.say('link.dashboard', { host: safe ? new URL(safe).host : '' }), address };
    });

const candidates = (draft: Draft, view: IncidentView): Candidate[] => {
  const labelled = (key: string, address: string | null | undefined): Candidate[] =>
    address ? [{ label: draft.say(`link.${key}`), address }] : [];
  return [
    ...labelled('page', view.pageUrl),
    ...view.alerts.flatMap((alert) => labelled('runbook', alert.annotations.runbook_url ?? alert.annotations.runbook)),
    ...view.alerts.flatMap((alert) => dashboards(draft, alert.annotations)),
    ...view.alerts.flatMap((alert) => labelled('source', alert.generatorURL)),
    ...labelled('alertmanager', view.externalURL),
  ];
};

/** The incident's links in a row. Addresses that are not plain http or https are counted, not shown. */
export const linkLine = (draft: Draft): RichTextElement[] => {
  const safe = new Map<string, string>();
  let refused = 0;
  for (const { label, address } of candidates(draft, draft.view)) {
    const url = webAddress(address);
    if (url === null) refused += 1;
    else if (!safe.has(url)) safe.set(url, label);
  }
  let spent = 0;
  const shown = [...safe].filter(([url, label]) => {
    const need = cost(url) + cost(label);
    if (spent + need > budget) return false;
    spent += need;
    return true;
  });
  const left = safe.size - shown.length;
  const refusal = refused > 0 ? draft.say('link.refused', { count: refused }) : '';
  return [
    ...shown.flatMap(([url, label], index) => [...plain(index ? ' · ' : ''), link(url, label)]),
    ...(left > 0
      ? [...plain(`${shown.length > 0 ? '. ' : ''}${draft.say('link.more', { count: left })}. `), ...draft.elsewhere()]
      : []),
    ...plain(refusal && shown.length + left > 0 ? `. ${refusal}` : refusal),
  ];
};
