/** Requests whose identity the log has (account actions), and those that sign again at a retry (orders). */
export const retryKinds = ['orders', 'actions'] as const;
export type RetryKind = (typeof retryKinds)[number];

/** Kinds of callers that are counted, each in a memory of its own: one kind that is made up crowds out no other. */
export const countedKinds = [
  'address',
  'key',
  'agent',
  'wallet',
  'network',
  'unfunded',
  'claim',
] as const;
export type CountedKind = (typeof countedKinds)[number];

/** Sets of used proofs: two kinds of repetition, each with timestamps in two units. */
export const usedProofSets = 4;

/** Parts of `PM_REDIS_CACHE_BYTES`, of which there are as many as they add up to. */
const parts = { orders: 8, actions: 2, limitsOfKind: 1, usedProofsOfSet: 1, agents: 1 } as const;

/** All parts. */
const partsInAll =
  parts.orders +
  parts.actions +
  parts.limitsOfKind * countedKinds.length +
  parts.usedProofsOfSet * usedProofSets +
  parts.agents;

const mebibyte = 1_048_576;
export const cacheBytesDefault = 32 * mebibyte * partsInAll;
export const cacheBytesMin = 4 * mebibyte;

/** Largest memory of each kind of key, bytes. */
export interface CacheBudgets {
  /** Memory of the retry keys of a kind, of all wallets, bytes. */
  readonly retries: Readonly<Record<RetryKind, number>>;
  /** Memory of the counts of one kind of caller, bytes. */
  readonly limitsOfKind: number;
  /** Memory of one set of used proofs, bytes. */
  readonly usedProofsOfSet: number;
  readonly agents: number;
}

/** How `PM_REDIS_CACHE_BYTES` is divided. */
export function cacheBudgets(bytes: number = cacheBytesDefault): CacheBudgets {
  const part = (count: number) => Math.floor((bytes * count) / partsInAll);
  return {
    retries: { orders: part(parts.orders), actions: part(parts.actions) },
    limitsOfKind: part(parts.limitsOfKind),
    usedProofsOfSet: part(parts.usedProofsOfSet),
    agents: part(parts.agents),
  };
}
