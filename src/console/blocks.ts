import { type Html, html, webUrl } from './html.ts';
import { timeOf } from './time.ts';

/** Slack's Block Kit as HTML: the blocks that Faultline posts. An unknown block is shown as its JSON, never dropped. */
export const blocksToHtml = (blocks: unknown[]): Html => html`${blocks.map((block) => blockToHtml(block as any))}`;

const blockToHtml = (block: any): Html => {
  switch (block.type) {
    case 'header':
      return html`<h3 class="header">${block.text.text}</h3>`;
    case 'section':
      return html`<div class="section">${block.text && textObject(block.text)}${block.fields && html`<div class="fields">${block.fields.map((field: any) => html`<div>${textObject(field)}</div>`)}</div>`}</div>`;
    case 'context':
      return html`<div class="context">${block.elements.map((element: any) => html`<span>${textObject(element)}</span> `)}</div>`;
    case 'actions':
      return html`<div class="actions">${block.elements.filter(worksHere).map(button)}</div>`;
    case 'divider':
      return html`<hr>`;
    case 'rich_text':
      return html`<div class="rich">${block.elements.map((element: any) => richElement(element))}</div>`;
    default:
      return html`<pre>${JSON.stringify(block)}</pre>`;
  }
};

const textObject = (object: any): Html => (object.type === 'mrkdwn' ? mrkdwn(object.text) : html`${object.text}`);

/** Buttons that open a form are Slack's own; the console has the acts that need none. */
const actsHere = new Set(['acknowledge', 'rerun', 'reopen', 'resolve']);
const worksHere = (element: any): boolean => element.url !== undefined || actsHere.has(element.action_id);

const button = (element: any): Html => {
  const style = element.style ? ` ${element.style}` : '';
  const url = element.url && webUrl(element.url);
  if (url)
    return html`<a class="${`button${style}`}" href="${url}" target="_blank" rel="noreferrer noopener">${element.text.text}</a>`;
  return html`<button type="button" class="${`button${style}`}" data-action="${element.action_id}" data-value="${element.value ?? ''}">${element.text.text}</button>`;
};

const richElement = (element: any): Html => {
  switch (element.type) {
    case 'rich_text_section':
      return html`<p>${leaves(element.elements)}</p>`;
    case 'rich_text_preformatted':
      return html`<pre>${leaves(element.elements)}</pre>`;
    case 'rich_text_quote':
      return html`<blockquote>${leaves(element.elements)}</blockquote>`;
    case 'rich_text_list': {
      const items = element.elements.map((item: any) => html`<li>${leaves(item.elements)}</li>`);
      return element.style === 'ordered' ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
    }
    default:
      return html`<pre>${JSON.stringify(element)}</pre>`;
  }
};

const leaves = (elements: any[]): Html => html`${elements.map((leaf) => styled(leaf))}`;

const styled = (leaf: any): Html => {
  let content = leafToHtml(leaf);
  if (leaf.style?.code) content = html`<code>${content}</code>`;
  if (leaf.style?.bold) content = html`<b>${content}</b>`;
  if (leaf.style?.italic) content = html`<i>${content}</i>`;
  if (leaf.style?.strike) content = html`<s>${content}</s>`;
  return content;
};

const leafToHtml = (leaf: any): Html => {
  switch (leaf.type) {
    case 'text':
      return html`${leaf.text}`;
    case 'link':
      return anchor(leaf.url, leaf.text ?? leaf.url);
    case 'date':
      return timeOf(leaf.timestamp * 1000);
    case 'user':
      return html`<span class="mention">@${leaf.user_id}</span>`;
    case 'usergroup':
      return html`<span class="mention">@${leaf.usergroup_id}</span>`;
    case 'channel':
      return html`<span class="mention">#${leaf.channel_id}</span>`;
    case 'emoji':
      return html`:${leaf.name}:`;
    default:
      return html`${leaf.text ?? JSON.stringify(leaf)}`;
  }
};

const anchor = (url: string, label: string): Html => {
  const safe = webUrl(url);
  return safe ? html`<a href="${safe}" target="_blank" rel="noreferrer noopener">${label}</a>` : html`${label}`;
};

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** The part of mrkdwn that Faultline writes: code, bold, italic, links, dates and mentions. */
const mrkdwn = (source: string): Html => {
  const parts = source.split(/(<[^<>]*>|```[\s\S]*?```|`[^`\n]+`|\*[^*\n]+\*|\b_[^_\n]+_\b|\n)/);
  return html`${parts.map((part) => {
    if (part === '\n') return html`<br>`;
    if (part.startsWith('```') && part.length >= 6) return html`<pre>${unescaped(part.slice(3, -3))}</pre>`;
    if (/^`.+`$/s.test(part)) return html`<code>${unescaped(part.slice(1, -1))}</code>`;
    if (/^\*.+\*$/s.test(part)) return html`<b>${unescaped(part.slice(1, -1))}</b>`;
    if (/^_.+_$/s.test(part)) return html`<i>${unescaped(part.slice(1, -1))}</i>`;
    if (/^<.*>$/s.test(part)) return token(part.slice(1, -1));
    return html`${unescaped(part)}`;
  })}`;
};

const token = (inner: string): Html => {
  const [target = '', label] = inner.split('|');
  const date = /^!date\^(\d+)\^/.exec(target);
  if (date) return timeOf(Number(date[1]) * 1000);
  if (/^[@#!]/.test(target)) return html`<span class="mention">${unescaped(label ?? target)}</span>`;
  return anchor(unescaped(target), unescaped(label ?? target));
};
