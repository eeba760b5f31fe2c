import { describeSubject } from '../domain/alert.ts';
import type { Incident } from '../domain/incident.ts';
import { layers } from '../domain/layer.ts';
import type { OutboxRow } from '../domain/message.ts';
import { blocksToHtml } from './blocks.ts';
import { type Html, html } from './html.ts';
import { shell } from './shell.ts';
import { timeOf } from './time.ts';

/** What the list shows of one incident. */
export interface ListEntry {
  incident: Incident;
  /** Owner and confidence of the verdict; null while it is still open. */
  owner: string | null;
  confidence: string | null;
}

/** Incidents at left, the chosen one's thread at right. */
export const consolePage = (entries: ListEntry[], chosen: string | null, thread: Html | null): Html =>
  shell(
    'Faultline',
    html`<div class="console">
<nav aria-label="Incidents"><h1>Faultline <small>local console</small></h1><div id="incidents">${incidentList(entries, chosen)}</div></nav>
<main id="thread" aria-live="polite" data-incident="${chosen ?? ''}">${thread ?? emptyThread()}</main>
</div>`,
    true,
  );

export const incidentList = (entries: ListEntry[], chosen: string | null): Html =>
  entries.length === 0
    ? html`<p class="empty">No incident yet. Point an Alertmanager receiver at <code>/webhooks/alertmanager</code>, or run <code>npm run demo</code>.</p>`
    : html`<ol class="incidents">${entries.map((entry) => listItem(entry, chosen))}</ol>`;

const listItem = ({ incident, owner, confidence }: ListEntry, chosen: string | null): Html => html`<li>
<a href="/?incident=${incident.id}" data-incident="${incident.id}"${incident.id === chosen && html` aria-current="true"`}>
<span class="${`dot ${incident.status} ${incident.severity}`}" title="${`${incident.severity}, ${incident.status}`}"></span>
<span class="title">${incident.title}</span>
<span class="subject">${describeSubject(incident.subject)} · ${incident.cluster}</span>
<span class="${`owner ${owner ?? 'running'}`}">${owner ? `${owner}${confidence ? ` · ${confidence}` : ''}` : progressWords(incident)}</span>
</a></li>`;

const progressWords = (incident: Incident): string => {
  const read = layers.filter((layer) => incident.progress[layer] === 'read').length;
  return `reading, ${read} of ${layers.length} layers`;
};

const emptyThread = (): Html => html`<p class="empty">Choose an incident.</p>`;

/** In place of the thread of an incident that is unknown. */
export const missingThread = (): Html =>
  html`<p class="empty">This incident is not here: resolved ones are deleted after <code>retentionDays</code>.</p>`;

/** The thread as Slack shows it: the root, then its replies in order. */
export const threadHtml = (rows: OutboxRow[]): Html =>
  rows.length === 0
    ? emptyThread()
    : html`<ol class="messages">${rows.map(
        (row) => html`<li class="${row.slot === 'root' ? 'message root' : 'message reply'}" id="${row.slot}">
<div class="byline"><span class="avatar" aria-hidden="true">F</span><b>Faultline</b> <span class="sent">${sentWords(row)}</span></div>
${blocksToHtml(row.blocks)}</li>`,
      )}</ol>`;

/** When the message was posted, and what became of it since; a ts is Slack's and begins with seconds since 1970. */
const sentWords = ({ ts, state, revision, elsewhere, lastError }: OutboxRow): Html => {
  const edited = revision > 1 ? ` · edited ${revision === 2 ? 'once' : `${revision - 1} times`}` : '';
  const posted = ts ? html`${timeOf(Number(ts) * 1000)}${edited}` : html`not posted yet`;
  return html`${posted}${elsewhere && ` · in ${elsewhere}`}${state === 'failed' && ` · not delivered: ${lastError ?? 'see the log'}`}`;
};
