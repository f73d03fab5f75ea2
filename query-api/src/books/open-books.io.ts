import { AwaitedPlaces } from '@pm/domain/executions/awaited-places.io';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import type { RedisKeys } from '@pm/schemas/redis/keys';
import { answeredWait } from '../http/answered-reads.io.ts';
import { followInvalidations } from './invalidation.io.ts';
import { StoredBooks } from './stored-books.io.ts';

/** Stored books, and how far they are. */
export interface Books {
  readonly stored: StoredBooks;
  readonly places: AwaitedPlaces;
}

/** Books out of Redis, which says what changes. */
export function openBooks({
  life,
  log,
  redis,
  redisKeys: keys,
}: {
  readonly life: Pick<Lifecycle, 'onStop'>;
  readonly log: Log;
  readonly redis: RedisClient;
  readonly redisKeys: RedisKeys;
}): Books {
  const stored = new StoredBooks(redis, keys);
  const invalidations = followInvalidations({
    redis,
    prefix: keys.bookPrefix,
    log,
    onInvalidate: (changed) => stored.invalidate(changed),
    onCoherent: (isCoherent) => stored.setCoherent(isCoherent),
  });
  life.onStop('invalidation', () => invalidations.close());
  const look = async (partitions: readonly number[]) => {
    const marks = await redis.hmget(keys.bookMarks, ...partitions.map(String));
    // A book that was kept before the mark moved is out of date until its change is reported.
    await invalidations.settle();
    return new Map(partitions.map((partition, at) => [partition, Number(marks[at] ?? 0)]));
  };
  return { stored, places: new AwaitedPlaces({ ...answeredWait, look }) };
}
