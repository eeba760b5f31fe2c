import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reasoning } from '../../src/domain/reasoning.ts';
import type { IncidentView } from '../../src/domain/view.ts';
import { loadRules } from '../../src/rules/load.ts';
import { attribute } from '../../src/triage/attribute.ts';
import { judge } from '../../src/triage/judge.ts';
import { reasoningOf } from '../../src/triage/reasoning.ts';
import { views } from '../fakes/view.ts';
import { caseFacts } from '../routing/facts.ts';
import { hasChromium, startChromium } from '../services/chromium.ts';
import { type ConsoleServer, startConsole } from './server.ts';

const named = (name: keyof typeof views, change: Partial<IncidentView> = {}): IncidentView => {
  const view = { ...views[name](), ...change };
  return { ...view, incident: { ...view.incident, id: `inc-${name}` } };
};

/** How a real case is judged, shown beside the made-up views. */
const reasoningOfCase = async (): Promise<Reasoning> => {
  const ruleSet = await loadRules();
  const judgement = judge(ruleSet.rules, await caseFacts('orders-containers-creating'));
  return reasoningOf(ruleSet, judgement, attribute(judgement, ruleSet.version), []);
};

describe.skipIf(!hasChromium())('the console in Chromium', () => {
  let browser: Browser;
  let server: ConsoleServer;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await startChromium();
    server = await startConsole([named('platform'), named('cloud'), named('running')], await reasoningOfCase());
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('lists incidents and shows the newest thread, without a complaint of the browser', async () => {
    await page.goto(server.url);
    expect(await page.locator('.incidents a').count()).toBe(3);
    expect(await page.locator('.message.root').textContent()).toContain('NodePool general');
    expect(await page.locator('.message.reply').count()).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
  });

  test('another incident is one click away', async () => {
    await page.click('a[data-incident="inc-cloud"]');
    await page.locator('.message.root', { hasText: 'KubeNodeUnreachable' }).waitFor();
    expect(page.url()).toContain('incident=inc-cloud');
  });

  test('the incident page says whose it is', async () => {
    await page.goto(`${server.url}/incidents/inc-platform`);
    const words = await page.locator('main').textContent();
    expect(words).toContain('Owner: Cluster platform (platform)');
    expect(words).toMatch(
      /Confidence: high.*Of the published cases judged with high confidence, \d+ of \d+ were right/,
    );
  });

  test('the incident page shows the reasoning, folded, and a keyboard unfolds it', async () => {
    await page.goto(`${server.url}/incidents/inc-platform`);
    const spoke = page.locator('details', { has: page.getByText('Rules that spoke') });
    expect(await spoke.locator('li').first().isVisible()).toBe(false);
    await spoke.locator('summary').focus();
    await page.keyboard.press('Enter');
    expect(await spoke.locator('li').first().textContent()).toMatch(/the root .* subnet-addresses-exhausted/);
    const folded = await page.locator('summary').allTextContents();
    for (const title of ['Rules that could not tell', 'Rules that stayed silent', 'Alerts', 'Messages of the thread'])
      expect(folded.some((text) => text.startsWith(title))).toBe(true);
    expect(await page.locator('.layers').textContent()).toContain('platform implicated');
  });

  test('without a verdict the incident page names every source that was not read so far', async () => {
    const gaps = Array.from({ length: 30 }, (_, index) => ({ missing: `source ${index}`, fix: `grant ${index}` }));
    const view = server.views.get('inc-running')!;
    server.views.set('inc-running', {
      ...view,
      readings: { platform: { ...views.platform().readings.platform!, gaps } },
    });
    await page.goto(`${server.url}/incidents/inc-running`);
    expect(await page.locator('main').textContent()).toContain('platform source 29 → grant 29');
    server.views.set('inc-running', view);
  });

  test('an address that shows nothing answers a browser with a page, a script with JSON', async () => {
    const response = await page.goto(`${server.url}/incidents/no-such`);
    expect(response?.status()).toBe(404);
    expect(await page.locator('h1').textContent()).toBe('there is no incident no-such');
    const scripted = await fetch(`${server.url}/incidents/no-such`);
    expect(await scripted.json()).toEqual({ error: 'there is no incident no-such', fix: 'open / for the list' });
    complaints.length = 0;
  });

  test('no message shows its internal name, and every time has its date', async () => {
    await page.goto(`${server.url}/?incident=inc-cloud`);
    expect(await page.locator('.byline').allTextContents()).not.toContainEqual(
      expect.stringMatching(/root|layer-|next-steps/),
    );
    for (const time of await page.locator('time').allTextContents())
      expect(time).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  });

  test('a link to an incident that is not there shows no other one', async () => {
    const response = await page.goto(`${server.url}/?incident=long-gone`);
    expect(response?.status()).toBe(404);
    expect(await page.locator('.message').count()).toBe(0);
    expect(await page.locator('#thread').textContent()).toContain('This incident is not here');
  });

  test('a change appears by itself', async () => {
    await page.goto(`${server.url}/?incident=inc-running`);
    await page.locator('.message.root', { hasText: 'Reading the evidence' }).waitFor();
    server.change('inc-running', { ...named('app'), incident: { ...named('app').incident, id: 'inc-running' } });
    await page.locator('.message.root', { hasText: 'report-worker' }).waitFor();
    await page.locator('a[data-incident="inc-running"] .owner.app').waitFor();
  });

  test('the buttons reach their use cases', async () => {
    await page.goto(`${server.url}/?incident=inc-platform`);
    await page.click('button[data-action="acknowledge"]');
    await expect.poll(() => server.acts).toEqual(['acknowledge inc-platform by local console']);
  });

  test('hostile text neither runs nor breaks the page', async () => {
    const hostile = '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">`*_~ \u202e';
    const view = named('platform');
    server.change('inc-platform', {
      ...view,
      incident: { ...view.incident, title: hostile, subject: { ...view.incident.subject, name: hostile } },
    });
    await page.goto(`${server.url}/?incident=inc-platform`);
    await page.goto(`${server.url}/incidents/inc-platform`);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('h1').textContent()).toContain('<script>');
  });

  test('nothing is wider than a phone', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ['/?incident=inc-cloud', '/incidents/inc-cloud']) {
      await page.goto(server.url + path);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    }
  });

  test('a page of another site gets nothing', async () => {
    const foreign = await fetch(`${server.url}/incidents`, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    const act = await fetch(`${server.url}/incidents/inc-cloud/acknowledge`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    expect(act.status).toBe(403);
  });
});
