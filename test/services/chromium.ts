import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { requireService } from './require-service.ts';

const binary = '/usr/bin/chromium';

export const hasChromium = (): boolean => requireService('Chromium', existsSync(binary), 'apt-get install chromium');

/** Headless, without the browser's own network traffic. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: binary,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
