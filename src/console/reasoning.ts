import type { Layer } from '../domain/layer.ts';
import type { Reasoning, Role, Spoken } from '../domain/reasoning.ts';
import { isCommand } from '../domain/shell.ts';
import type { LayerVerdict } from '../domain/verdict.ts';
import { count } from '../domain/wording.ts';
import { type Html, html } from './html.ts';
import { timeOf } from './time.ts';

const roleWords: Record<Role, string> = {
  root: 'the root',
  consequence: 'follows from the root',
  rival: 'as well proven, for another owner',
  beside: 'true as well, and not the root',
  elsewhere: 'does not reach the subject',
};

/** A sentence of ours: what it writes between backticks is code. */
export const prose = (sentence: string): Html =>
  html`${sentence.split(/`([^`]+)`/).map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))}`;

const fixHtml = (fix: string): Html => (isCommand(fix) ? html`<code>${fix}</code>` : prose(fix));

/** A list that is folded: its summary says how long it is. */
export const folded = (title: string, number: number, list: Html): Html =>
  html`${number > 0 && html`<details><summary>${title} <span class="count">${number}</span></summary>${list}</details>`}`;

/** What each layer became, and what its own rules said on the way: why it is, or is not, the owner. */
export const layersHtml = (verdicts: LayerVerdict[], reasoning: Reasoning | null): Html => {
  const said = (layer: Layer): Spoken[] => reasoning?.layers.find(({ verdict }) => verdict.layer === layer)?.said ?? [];
  return html`<dl class="layers">${verdicts.map(
    (layer) => html`<dt><b>${layer.layer}</b> <span class="${`status ${layer.status}`}">${layer.status}</span></dt>
<dd>${layer.status === 'unknown' ? html`${layer.missing}${layer.fix && html`<br>${layer.silent ? 'Look' : 'Fix'}: ${fixHtml(layer.fix)}`}` : layer.because}
${said(layer.layer).length > 0 && html`<ul>${said(layer.layer).map((one) => html`<li>${one.cause.en} <span class="context">${one.rule}: ${roleWords[one.role]}</span></li>`)}</ul>`}</dd>`,
  )}</dl>`;
};

/** What was read and not, and which rules spoke, stayed silent or could not tell. */
export const reasoningHtml = (reasoning: Reasoning, ruleSet: string): Html => html`<h2>How this was judged</h2>
${reasoning.ruleSet !== ruleSet && html`<p>The rules have changed since the verdict (${ruleSet}, now ${reasoning.ruleSet}): what follows is of the present ones. A re-run judges by them.</p>`}
<p>About ${reasoning.scope}.</p>
<table><thead><tr><th scope="col">Layer</th><th scope="col">Read</th><th scope="col">Answered</th></tr></thead>
<tbody>${reasoning.read.map((batch) => html`<tr><th scope="row">${batch.layer}</th><td>${figures(batch)}</td><td>${batch.answered} of ${batch.reads}</td></tr>`)}</tbody></table>
${folded('Not read', reasoning.notRead.length, gapList(reasoning.notRead))}
${folded('Rules that spoke', reasoning.spoke.length, html`<ol>${reasoning.spoke.map(spokenItem)}</ol>`)}
${folded(
  'Rules that could not tell',
  reasoning.couldNotTell.reduce((sum, { rules }) => sum + rules.length, 0),
  html`<ul>${reasoning.couldNotTell.map(({ missing, rules }) => html`<li>${rules.map((rule, index) => html`${index > 0 && ', '}<code>${rule}</code>`)}<br><span class="context">${missing}</span></li>`)}</ul>`,
)}
${folded(
  'Rules that stayed silent: what they asked for was read, or nothing spoke for reading it',
  reasoning.silent.length,
  html`<ul>${reasoning.silent.map(({ rule, title }) => html`<li>${title} <code>${rule}</code></li>`)}</ul>`,
)}
${folded('Rules that broke', reasoning.broken.length, html`<ul>${reasoning.broken.map(({ rule, message }) => html`<li><code>${rule}</code> ${message}</li>`)}</ul>`)}`;

/** Every source that could not be read, each once: the thread only counts them. */
export const gapList = (gaps: { layer: Layer; missing: string; fix: string }[]): Html =>
  html`<ul>${gaps.map(({ layer, missing, fix }) => html`<li><b>${layer}</b> ${missing}${fix && html` → ${fixHtml(fix)}`}</li>`)}</ul>`;

const figures = ({ objects, logs, series, cloudAnswers }: Reasoning['read'][number]): string =>
  [
    count(objects, 'object'),
    count(logs, 'log'),
    count(series, 'series', 'series'),
    count(cloudAnswers, 'cloud answer'),
  ].join(', ');

const spokenItem = (said: Spoken): Html => html`<li>${said.cause.en}<br>
<span class="context"><b>${roleWords[said.role]}</b> · ${said.owner} · ${said.state} · ${said.strength}${said.onset && html` · since ${timeOf(said.onset)}`} · <code>${said.rule}</code> ${said.title}</span></li>`;
