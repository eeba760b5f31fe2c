import { registerHooks } from 'node:module';

/**
 * `node --import …/preload.ts src/cli.ts serve`: the composition root gets the same adapters as ever, each wrapped at
 * its port by the module of this folder. The product itself knows nothing of it.
 */
const roots = ['main.ts', 'server.ts'].map((file) => new URL(`../../../src/${file}`, import.meta.url).href);
const wrapped = new Map([
  ['./storage/open-records.ts', './open-records.ts'],
  ['./queue/triage-queue.ts', './triage-queue.ts'],
  ['./triage-steps.ts', './triage-steps.ts'],
  ['./slack/sender.ts', './sender.ts'],
]);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const wrapper = roots.includes(context.parentURL ?? '') ? wrapped.get(specifier) : undefined;
    return wrapper ? nextResolve(new URL(wrapper, import.meta.url).href, context) : nextResolve(specifier, context);
  },
});
