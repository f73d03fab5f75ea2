import {
  cacheBudgets,
  cacheBytesDefault,
  cacheBytesMin,
  countedKinds,
  usedProofSets,
} from '@pm/schemas/redis/cache';
import { isCacheKey, redisKeys } from '@pm/schemas/redis/keys';

test.each([cacheBytesMin, 10_000_001, cacheBytesDefault, 68_719_476_736])(
  'the parts of %d bytes are all of them and no more',
  (bytes) => {
    const { retries, limitsOfKind, usedProofsOfSet, agents } = cacheBudgets(bytes);
    const all =
      retries.orders +
      retries.actions +
      limitsOfKind * countedKinds.length +
      usedProofsOfSet * usedProofSets +
      agents;
    expect(all).toBeLessThanOrEqual(bytes);
    expect(all).toBeGreaterThan(bytes - 20);
  },
);

test('every key is on one server', () => {
  const names = Object.keys(redisKeys('pm')) as (keyof ReturnType<typeof redisKeys>)[];
  const kept = names.filter(isCacheKey);
  expect(kept).toEqual([
    'limits',
    'limitsBytes',
    'limitsInUse',
    'retry',
    'retries',
    'usedProofs',
    'keyReaders',
    'agentsSeen',
    'agentsFlush',
  ]);
});
