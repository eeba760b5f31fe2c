import { describeSubject } from '../domain/alert.ts';
import type { Incident } from '../domain/incident.ts';
import { layers } from '../domain/layer.ts';
import type { OutboxRow } from '../domain/message.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { IncidentView, Routing } from '../domain/view.ts';
import { blocksToHtml } from './blocks.ts';
import { type Html, html } from './html.ts';

/** What the list shows of one incident. */
export interface ListEntry {
  incident: Incident;
  /** Owner and confidence of the verdict; null while it is still open. */
  owner: string | null;
  confidence: string | null;
}

const shell = (title: string, body: Html, live: boolean): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/console.css">
${live && html`<script src="/assets/console.js" defer></script>`}
</head>
<body>${body}</body>
</html>`;

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
export const threadHtml = (rows: OutboxRow[], now: Date): Html =>
  rows.length === 0
    ? emptyThread()
    : html`<ol class="messages">${rows.map(
        (row) => html`<li class="${row.slot === 'root' ? 'message root' : 'message reply'}" id="${row.slot}">
<div class="byline"><span class="avatar" aria-hidden="true">F</span><b>Faultline</b> <span class="slot">${row.slot}${row.revision > 1 && ` · edited ${row.revision - 1}×`}</span></div>
${blocksToHtml(row.blocks, now)}</li>`,
      )}</ol>`;

const ownerWords = ({ state, owner, confidence }: Verdict, routing: Routing | null): string => {
  if (state !== 'fault') return `nobody, ${state === 'over' ? 'it is over' : 'it is expected'}`;
  const known = routing?.knownBy ? `, known by: ${routing.knownBy}` : '';
  if (owner === 'undetermined')
    return `undetermined, ${confidence} confidence${routing?.party ? `; ${routing.party} looks first` : ''}${known}`;
  return `${routing?.party ? `${routing.party} (${owner})` : owner}, ${confidence} confidence${known}`;
};

/** Every source that could not be read, each once: the thread only counts them. */
const notRead = ({ readings }: IncidentView): Html => {
  const gaps = layers.flatMap((layer) => (readings[layer]?.gaps ?? []).map((gap) => ({ layer, ...gap })));
  const unique = [...new Map(gaps.map((gap) => [`${gap.layer} ${gap.missing} ${gap.fix}`, gap])).values()];
  return html`${
    unique.length > 0 &&
    html`<h2>Not read</h2><ul>${unique.map(({ layer, missing, fix }) => html`<li><b>${layer}</b> ${missing}${fix && html` → <code>${fix}</code>`}</li>`)}</ul>`
  }`;
};

/** Everything of one incident that a message has no room for. */
export const incidentPage = (view: IncidentView, rows: OutboxRow[], now: Date): Html => {
  const { incident, verdict } = view;
  return shell(
    `${incident.title} · Faultline`,
    html`<main class="page">
<p><a href="/?incident=${incident.id}">← thread</a></p>
<h1>${incident.title}</h1>
<p class="subject">${describeSubject(incident.subject)} · ${incident.cluster} · ${incident.severity} · ${incident.status}</p>
${
  verdict &&
  html`<p><b>Owner:</b> ${ownerWords(verdict, view.routing)}</p>
<p class="cause">${verdict.cause.en}</p>
<p><b>Impact:</b> ${verdict.impact}</p>
<h2>Layers</h2><ul>${verdict.layers.map((layer) => html`<li><b>${layer.layer}</b> ${layer.status}: ${layer.status === 'unknown' ? `${layer.missing} → ${layer.fix}` : layer.because}</li>`)}</ul>
<h2>Causal chain</h2><ol>${verdict.chain.map((link) => html`<li>${link.object} ${link.uid && html`<code>${link.uid}</code>`}: ${link.claim}</li>`)}</ol>
<h2>Evidence</h2>${verdict.evidence.map(
    (entry) => html`<section class="evidence"><h3>${entry.object}</h3>
<p>${entry.source}, ${entry.field}${entry.value && ` = ${entry.value}`}${entry.at && ` at ${entry.at}`} ${entry.uid && html`<code>${entry.uid}</code>`}</p>
${entry.text && html`<pre>${entry.text}</pre>`}<p>See again: <code>${entry.reproduce}</code></p><p class="context">Cannot show: ${entry.limits}</p></section>`,
  )}
<h2>Next steps</h2><ol>${verdict.nextSteps.map((step) => html`<li>${step.en}</li>`)}</ol>
${view.escalation && html`<h2>${view.escalation.title}</h2><pre>${view.escalation.body}</pre>`}`
}
${notRead(view)}
${view.rejected.length > 0 && html`<h2>Set aside</h2><ul>${view.rejected.map((reason) => html`<li>${reason}</li>`)}</ul>`}
<h2>Alerts</h2>${view.alerts.map((alert) => html`<pre>${JSON.stringify({ status: alert.status, startsAt: alert.startsAt, labels: alert.labels, annotations: alert.annotations }, null, 1)}</pre>`)}
<h2>Thread</h2>${threadHtml(rows, now)}
</main>`,
    false,
  );
};
