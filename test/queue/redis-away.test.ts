import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createQueue } from '../../src/queue/triage-queue.ts';
import { hasRedis, type RedisService, startRedis } from '../services/redis.ts';
import { newId } from '../storage/backends.ts';

describe.skipIf(!hasRedis())('while Redis is away', () => {
  let redis: RedisService;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.remove());
  const open = () => createQueue({ backend: { redisUrl: redis.url }, answerMs: 300, onError: () => {} });

  it('a queue opens, says that it has no answer, and works once Redis is there', async () => {
    await redis.stop();
    const queue = await open();
    const judged = Promise.withResolvers<string>();
    queue.work({ layer: async () => {}, verdict: async (incidentId) => judged.resolve(incidentId) }, 3);
    const id = newId();
    await expect(queue.addTriage(id, 1)).rejects.toThrow(/did not answer.*REDIS_URL/);
    await expect(queue.counts()).rejects.toThrow('did not answer');
    await redis.start();
    // What was asked for is done late; asking again adds nothing twice.
    expect(await judged.promise).toBe(id);
    await queue.close();
  });

  it('a queue closes', async () => {
    const queue = await open();
    queue.work({ layer: async () => {}, verdict: async () => {} }, 3);
    await queue.counts();
    await redis.stop();
    await queue.close();
  });
});
