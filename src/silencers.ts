import { alertmanagerSilencer } from './alertmanager/silencer.ts';
import type { Config } from './config/schema.ts';
import type { Silencer } from './incidents/silences.ts';
import type { SilencingDeps } from './incidents/silencing.ts';
import type { Logger } from './log.ts';

/** The Alertmanagers of the configured clusters. */
export const silencersOf = (config: Config, log: Logger): Pick<SilencingDeps, 'silencerOf' | 'onFailure'> => ({
  silencerOf(name): Silencer | null {
    const cluster = config.clusters.find((candidate) => candidate.name === name);
    const url = cluster?.alertmanagerUrl ?? config.alertmanagerUrl;
    if (!url) return null;
    const token = config.alertmanagerToken?.reveal();
    return alertmanagerSilencer({ url, timeoutMs: config.triage.readTimeoutMs, ...(token && { bearerToken: token }) });
  },
  onFailure: ({ message, fix }) => log.warn(`${message}; ${fix}`),
});
