import type { RedisClient } from '@pm/kit/redis';

/** Settings of `appendfsync` that are compared; the first is the one of the local stack. */
export const syncs = ['everysec', 'always'] as const;
export type Sync = (typeof syncs)[number];

/** The figures of one kind of run by round, under each setting. */
export type BySync = Readonly<Record<Sync, number[]>>;

export function openBySync(): BySync {
  return { everysec: [], always: [] };
}

export async function setSync(redis: RedisClient, sync: Sync): Promise<void> {
  await redis.config('SET', 'appendfsync', sync);
}

/** The settings in turn: the order changes with the round, as load on the machine may fall or rise meanwhile. */
export function syncsOf(round: number): readonly Sync[] {
  return round % 2 === 0 ? syncs : [...syncs].reverse();
}
