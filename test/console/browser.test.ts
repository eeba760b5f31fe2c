import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IncidentView } from '../../src/domain/view.ts';
import { views } from '../fakes/view.ts';
import { hasChromium, startChromium } from '../services/chromium.ts';
import { type ConsoleServer, startConsole } from './server.ts';

const named = (name: keyof typeof views, change: Partial<IncidentView> = {}): IncidentView => {
  const view = { ...views[name](), ...change };
  return { ...view, incident: { ...view.incident, id: `inc-${name}` } };
};

describe.skipIf(!hasChromium())('the console in Chromium', () => {
  let browser: Browser;
  let server: ConsoleServer;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await startChromium();
    server = await startConsole([named('platform'), named('cloud'), named('running')]);
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
    expect(await page.locator('main').textContent()).toContain('Owner: Cluster platform (platform), high confidence');
  });

  test('the incident page names every source that was not read, which the thread only counts', async () => {
    const gaps = Array.from({ length: 30 }, (_, index) => ({ missing: `source ${index}`, fix: `grant ${index}` }));
    const view = server.views.get('inc-platform')!;
    const platform = { ...view.readings.platform!, gaps };
    server.views.set('inc-platform', { ...view, readings: { ...view.readings, platform } });
    await page.goto(`${server.url}/incidents/inc-platform`);
    expect(await page.locator('main').textContent()).toContain('platform source 29 → grant 29');
    server.views.set('inc-platform', view);
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
