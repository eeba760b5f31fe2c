import { describeSubject } from '../domain/alert.ts';
import { calibration } from '../domain/calibration.ts';
import type { Evidence } from '../domain/evidence.ts';
import { layers } from '../domain/layer.ts';
import type { OutboxRow } from '../domain/message.ts';
import type { Reasoning } from '../domain/reasoning.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { IncidentView, Routing } from '../domain/view.ts';
import { type Html, html } from './html.ts';
import { threadHtml } from './pages.ts';
import { folded, gapList, layersHtml, prose, reasoningHtml } from './reasoning.ts';
import { shell } from './shell.ts';
import { timeOf } from './time.ts';

/** Everything of one incident that a message has no room for: the verdict, its proof, and how it came about. */
export const incidentPage = (view: IncidentView, rows: OutboxRow[], reasoning: Reasoning | null): Html => {
  const { incident, verdict } = view;
  return shell(
    `${incident.title} · Faultline`,
    html`<main class="page">
<p><a href="/?incident=${incident.id}">← thread</a></p>
<h1>${incident.title}</h1>
<p class="subject">${describeSubject(incident.subject)} · ${incident.cluster} · ${incident.severity} · ${incident.status} · fired ${timeOf(incident.firedAt)}</p>
${verdict ? verdictHtml(view, verdict, reasoning) : html`<p>No verdict yet: the evidence is being read.</p>${unreadSoFar(view)}`}
${folded('Alerts set aside', view.rejected.length, html`<ul>${view.rejected.map((reason) => html`<li>${reason}</li>`)}</ul>`)}
${folded('Alerts', view.alerts.length, html`${view.alerts.map((alert) => html`<pre>${JSON.stringify({ status: alert.status, startsAt: alert.startsAt, labels: alert.labels, annotations: alert.annotations }, null, 1)}</pre>`)}`)}
${folded('Messages of the thread', rows.length, threadHtml(rows))}
</main>`,
  );
};

const verdictHtml = (view: IncidentView, verdict: Verdict, reasoning: Reasoning | null): Html => html`
<p class="cause">${verdict.cause.en}</p>
<p><b>Owner:</b> ${ownerWords(verdict, view.routing)}</p>
<p><b>Confidence:</b> ${confidenceWords(verdict, reasoning)}</p>
${verdict.deadline && html`<p><b>Next check:</b> ${timeOf(verdict.deadline)}. It is read again then: what still holds is a fault, and a reply in the thread says so.</p>`}
${verdict.impact && html`<p><b>Impact:</b> ${verdict.impact}</p>`}
${verdict.onset && html`<p><b>Began:</b> ${timeOf(verdict.onset)}</p>`}
${section('Next steps', verdict.nextSteps, (step) => prose(step.en), 'ol')}
${section('Also has work to do', verdict.contributing, ({ owner, action }) => html`<b>${owner}</b> ${prose(action.en)}`)}
<h2>Layers</h2>${layersHtml(verdict.layers, reasoning)}
${section('From cause to symptom', verdict.chain, (link) => html`${link.object}${link.uid && html` <code>${link.uid}</code>`}: ${link.claim}`, 'ol')}
${verdict.evidence.length > 0 && html`<h2>Evidence</h2>${verdict.evidence.map(evidenceHtml)}`}
${section('What would change this', verdict.wouldChange, prose)}
${section('What the evidence cannot show', verdict.cannotShow, prose)}
${reasoning ? reasoningHtml(reasoning, verdict.ruleSet) : unreadSoFar(view)}
${view.escalation && html`<h2>${view.escalation.title}</h2>${section('The receiver will ask for', view.escalation.incomplete, prose)}<details><summary>The draft</summary><pre>${view.escalation.body}</pre></details>`}`;

const section = <T>(title: string, items: T[], show: (item: T) => Html, kind: 'ul' | 'ol' = 'ul'): Html => {
  const list = items.map((item) => html`<li>${show(item)}</li>`);
  return html`${items.length > 0 && html`<h2>${title}</h2>${kind === 'ol' ? html`<ol>${list}</ol>` : html`<ul>${list}</ul>`}`}`;
};

const ownerWords = ({ state, owner }: Verdict, routing: Routing | null): string => {
  if (state !== 'fault') return `nobody, ${state === 'over' ? 'it is over' : 'it is expected'}`;
  const known = routing?.knownBy ? `. Known by: ${routing.knownBy}` : '';
  if (owner === 'undetermined') return `undetermined${routing?.party ? `; ${routing.party} looks first` : ''}${known}`;
  return `${routing?.party ? `${routing.party} (${owner})` : owner}${known}`;
};

/** What the word is worth: the doubts behind it, and how often it was right where the answer is known. */
const confidenceWords = ({ confidence }: Verdict, reasoning: Reasoning | null): string => {
  const { right, of } = calibration[confidence];
  const doubts = reasoning?.doubts ?? [];
  const why = doubts.length > 0 ? `: ${doubts.join('; ')}` : '';
  return `${confidence}${why}. Of the published cases judged with ${confidence} confidence, ${right} of ${of} were right.`;
};

const unreadSoFar = ({ readings }: IncidentView): Html => {
  const gaps = layers.flatMap((layer) => (readings[layer]?.gaps ?? []).map((gap) => ({ layer, ...gap })));
  return folded('Not read', gaps.length, gapList(gaps));
};

const evidenceHtml = (entry: Evidence): Html => html`<section class="evidence"><h3>${entry.object}</h3>
<p>${entry.source}, ${entry.field}${entry.value && ` = ${entry.value}`}${entry.at && html`, ${timeOf(entry.at)}`} ${entry.uid && html`<code>${entry.uid}</code>`}</p>
${entry.text && html`<pre>${entry.text}</pre>`}<p>See again: <code>${entry.reproduce}</code></p><p class="context">Cannot show: ${entry.limits}</p></section>`;
