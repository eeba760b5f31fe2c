import { defineConfig } from 'vitest/config';

/** `npm run test:cluster`: what needs a cluster, and is therefore no part of `npm test`. */
export default defineConfig({
  test: { include: ['test/cluster/*.cluster.ts'], testTimeout: 60_000, maxWorkers: 1 },
});
