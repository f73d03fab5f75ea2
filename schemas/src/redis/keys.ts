import type { TokenId, WalletAddress } from '../ids.ts';

/**
 * All keys of the Redis of the ledger, `PM_REDIS_URL`, in one place. What they hold is derived from the log and can be
 * deleted.
 *
 *   <prefix>:book:<token>              hash   see `bookFields`; moves forward only, compared by `version`
 *   <prefix>:ledger3:wallet:<wallet>   hash   free, held, pending, micro-USDC
 *   <prefix>:ledger3:pending           hash   id -> "amount acceptedAtMs answers senders wallet partition kind market"
 *   <prefix>:ledger3:waiting:<p>       zset   ids reserved for partition p by acceptedAtMs
 *   <prefix>:ledger3:marks             hash   topic:partition -> next offset to apply; with :generation -> newest begun
 * there; with :fence
 *                                             -> newest time of a fence, Unix milliseconds; with :clock ->
 *                                             clock of the partition at the last record applied, Unix milliseconds
 *   <prefix>:ledger3:transfers         hash   id of an applied transfer -> "wallet amount moved"
 *   <prefix>:ledger3:insolvent         set    wallets whose free money was below zero and that no one has dealt with;
 * with :closed
 *                                             those of a rebuild under way
 *   <prefix>:ledger3:markets           hash   market -> "token0 token1 locked payout0 gap0 gap1", micro-shares and
 * micro-USDC; payout0 is "-"
 *                                             before the resolution; a gap other than 0 is a breach
 *   <prefix>:ledger3:breaches          hash   market -> "gap0 gap1 partition:offset wallets", until the solvency check
 * has dealt with it
 *   <prefix>:ledger3:state             hash   generation, ready ("1" when open), life (run of the server it was opened
 * in),
 *                                             plan, planned (id and generation of a rebuild under way), restore,
 *                                             restoreMs (who writes an image of it, and when it last did)
 *   <prefix>:moved-alone:<day>         hash   way:operator -> micro-USDC moved without a second person on that day
 *                                             since the epoch; not in the log, expires
 *   <prefix>:books:marks               hash   partition -> next offset to apply, there while its books are what the log
 * says;
 *                                             clock:<partition> -> its clock at the last record applied, Unix
 * milliseconds;
 *                                             fold:<partition> -> who folds it from the start of the log;
 * market:<number> ->
 *                                             micro-USDC that its resting orders come to, there once its books were
 * written
 *   <prefix>:rebuild                   string which run of `npm run rebuild` works on the tables; not in the log,
 * expires
 */
function ledgerKeys(prefix: string) {
  // The number is the version of these values: under another one the ledger is not there yet and is folded from the
  // log.
  const ledger = `${prefix}:ledger3`;
  return {
    /** Prefix of the keys of books that BCAST client tracking subscribes to. */
    bookPrefix: `${prefix}:book:`,
    book: (token: TokenId) => `${prefix}:book:${token}`,
    bookMarks: `${prefix}:books:marks`,
    /** Field of the book marks for a market. */
    bookMarkOf: (market: number | string) => `market:${market}`,
    /** Field of the book marks with the clock of a partition. */
    bookClockOf: (partition: number) => `clock:${partition}`,
    /** Field of the book marks for a partition that is folded from its start. */
    bookFoldOf: (partition: number) => `fold:${partition}`,
    wallet: (wallet: WalletAddress) => `${ledger}:wallet:${wallet}`,
    walletPrefix: `${ledger}:wallet:`,
    pending: `${ledger}:pending`,
    waiting: (partition: number) => `${ledger}:waiting:${partition}`,
    ledgerMarks: `${ledger}:marks`,
    /** Fields of the ledger marks for a partition of `executions`, and with its clock. */
    ledgerMarkOf: (partition: number) => `executions:${partition}`,
    ledgerClockOf: (partition: number) => `executions:${partition}:clock`,
    ledgerInsolvent: `${ledger}:insolvent`,
    ledgerMarkets: `${ledger}:markets`,
    ledgerBreaches: `${ledger}:breaches`,
    ledgerTransfers: `${ledger}:transfers`,
    ledgerState: `${ledger}:state`,
    movedAlone: (day: number) => `${prefix}:moved-alone:${day}`,
    rebuild: `${prefix}:rebuild`,
  };
}

/**
 * All keys of the Redis of what is kept for a time, `PM_REDIS_CACHE_URL`: nothing of it is on the log, and each kind is
 * bounded in bytes (`cacheBudgets`). Keys are never evicted, since a proof that was forgotten could be used again.
 *
 *   <prefix>:agents:seen               hash   agent id -> Unix milliseconds of its newest use; on the log at most a
 * minute later
 *   <prefix>:agents:flush              string set while one process has just brought them to the log
 *   <prefix>:keys:readers              hash   process that checks keys -> "times position position position", how often
 *                                             it has shown itself and how far it has read credentials, read-only keys
 *                                             and agents
 *   <prefix>:limits:<subject>          hash   `rule@limit` -> "window used", and `=` -> "window bytes", what it adds
 *                                             to the next; expires
 *   <prefix>:limits-bytes:<kind>       hash   bytes of the counts of a kind of caller by the window they expire in
 *   <prefix>:limits-in-use             hash   settings of limits -> Unix milliseconds when a process named them last;
 *                                             expires
 *   <prefix>:retry:<digest>            hash   a request with a retry key, see `retryLimits`; expires
 *   <prefix>:retries:<kind>:<wallet>   hash   bytes of the wallet's requests of a kind by the window they expire in
 *   <prefix>:retries:<kind>            hash   the same of all wallets
 *   <prefix>:used:<kind>               zset   first 16 bytes of the proofs of requests that were carried out, by the
 *                                             time they were first met, Unix milliseconds, see
 *                                             `usedProofLimits`; expires
 */
function cacheKeys(prefix: string) {
  return {
    /**
     * Units of limits that a caller has used up; the caller is `address:…`, `key:…` or `agent:…`. Their loss does no
     * harm.
     */
    limits: (subject: string) => `${prefix}:limits:${subject}`,
    limitsBytes: (kind: string) => `${prefix}:limits-bytes:${kind}`,
    /** Limits that processes count with, so that they notice when these differ. */
    limitsInUse: `${prefix}:limits-in-use`,
    retry: (digest: string) => `${prefix}:retry:${digest}`,
    retries: (kind: string) => `${prefix}:retries:${kind}`,
    usedProofs: (kind: string) => `${prefix}:used:${kind}`,
    keyReaders: `${prefix}:keys:readers`,
    agentsSeen: `${prefix}:agents:seen`,
    agentsFlush: `${prefix}:agents:flush`,
  };
}

/** The keys of both servers; which server has a key is said by where it is declared above. */
export function redisKeys(prefix: string) {
  return { ...ledgerKeys(prefix), ...cacheKeys(prefix) };
}

export type RedisKeys = ReturnType<typeof redisKeys>;
export type RedisCacheKeys = ReturnType<typeof cacheKeys>;

/** Whether the Redis of what is kept for a time has a key, by its name in `redisKeys`. */
export function isCacheKey(name: keyof RedisKeys): name is keyof RedisCacheKeys {
  return Object.hasOwn(cacheKeys(''), name);
}

/** Limits of the records of requests that carry a retry key (conventions.md 3.9). */
export const retryLimits = {
  /** A key is remembered for so long; as long as the matcher remembers an order. */
  ttlMs: 3_600_000,
  /**
   * A first request that has not answered after this is taken for dead, and a retry carries on; far beyond
   * time-to-book.
   */
  leaseMs: 10_000,
  /** Bytes of Redis that a record takes at most, beside its recorded attempt and its response. */
  recordBytes: 1_024,
  /** Bytes that are left when a record is made: as many as a batch that is about to be sent takes. */
  roomBytes: 16_384,
  /** The part of the memory of all wallets that one wallet may take. */
  walletPart: 1 / 16,
  /** Bytes count until the window is over in which their record expires, milliseconds. */
  windowMs: 300_000,
  /** A longer answer is not kept; it is made again from the log. */
  answerMaxBytes: 262_144,
  /** Characters of a key. */
  keyMaxChars: 255,
} as const;

/** Limits of the stored proofs of requests that must not be carried out again (conventions.md 2.8). */
export const usedProofLimits = {
  /**
   * Time after the first in which the same bytes are a client's own second request within one second of its timestamp,
   * where the route takes it; milliseconds.
   */
  graceMs: 2_000,
  /** Largest difference of the clocks of Redis and of all ingress, milliseconds. */
  clockMarginMs: 10_000,
  /** Bytes that one proof takes at most. */
  proofBytes: 128,
} as const;

/**
 * Fields of a book: `json` is the body of GET /book as stored bytes; prices are plain decimals, empty when the side
 * is empty or nothing was traded yet; `last` is the token's own last trade, `marketLast` the newest one of the
 * market, which is one minus its price where the other token was traded; `version` is the offset of its record in
 * `executions`.
 */
export const bookFields = [
  'json',
  'version',
  'bid',
  'ask',
  'last',
  'lastSide',
  'marketLast',
  'timeMs',
] as const;
export type BookField = (typeof bookFields)[number];
