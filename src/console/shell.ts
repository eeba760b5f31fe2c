import { type Html, html } from './html.ts';

/** The page around a body. `live`: it keeps itself current by script. */
export const shell = (title: string, body: Html, live = false): Html => html`<!doctype html>
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

/** What a browser is shown of an error: what happened, and the line that helps. */
export const errorPage = (status: number, message: string, fix: string): Html =>
  shell(
    `${status} · Faultline`,
    html`<main class="page"><h1>${message}</h1><p>${fix}</p><p><a href="/">All incidents</a></p></main>`,
  );
