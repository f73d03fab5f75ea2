import { profilesHeldMax } from '../log/profiles.ts';

/**
 * Entries that every process holds in memory and that a request without money adds. Up to so many everyone may add one;
 * beyond, a wallet that holds `entryMoneyMicro` still may. So callers without money cannot take the place of others
 * (docs/trading/limits.md). All together about 1.1 GB in ingress.
 */
export const freeEntries = {
  apiKeys: 250_000,
  readOnlyKeys: 100_000,
  agents: 100_000,
  sessions: 250_000,
  profiles: profilesHeldMax / 2,
  notificationMarks: 25_000,
  comments: 50_000,
  /** Likes and reports of comments. */
  commentVotes: 500_000,
} as const;

/** Keys are replaced up to this factor of their number: a wallet whose only key was revoked gets another. */
export const replacedKeysFactor = 2;

/** Money of a wallet with which it may add entries beyond `freeEntries`, micro-USDC. */
export const entryMoneyMicro = 1_000_000;
