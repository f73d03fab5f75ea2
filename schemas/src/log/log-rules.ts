/** Rules of the log, by the version of `SetRules` that they begin with; 0 are those before the first. */
export const rules = {
  /** The sequences of a run of a key strictly rise in a partition. */
  usedSequences: 1,
  /** Signatures cover the fingerprint of the writer schema. */
  signedSchema: 2,
  /** The clock of a partition moves by `clockLeapMaxMs` at a time, or up to so much after the time of a witness. */
  witnessedClock: 3,
  /** The opening key lists further OPERATOR keys. */
  operatorKeys: 4,
  /** A checkpoint shows the hash of the state at the checkpoint before, so that no record waits for a hash. */
  laterCheckpoints: 5,
  /** A partition remembers no more than `rememberedIdsMax` ids, and refuses what would be one more. */
  boundedIds: 5,
  /** A partition belongs to the process that has claimed it last; before, to whom the consumer group gives it. */
  ownerTerms: 6,
  /** An order that is known is a repetition however long ago it was signed. */
  knownBeforeAge: 7,
  /** `CancelByIds` fences ids that the partition has never seen. */
  fencedIds: 7,
  /** Ticks judge the time to book (docs/trading/conventions.md 3.8). */
  judgedByTicks: 7,
  /** A GTD order has a least lifetime (3.6). */
  gtdLifetime: 7,
  /** Self-trade compares signers besides wallets (3.14). */
  selfTradeBySigner: 7,
} as const;

/** The version that new partitions begin with. A process that meets a larger one releases the partition. */
export const newestRules: number = Math.max(...Object.values(rules));

/**
 * Milliseconds that a tick may be ahead of the clock of the partition and of every witness. Longer than the takeover of
 * a dead owner takes. Part of the rules: another value gives another history.
 */
export const clockLeapMaxMs = 10_000;

/** A GTD order is given so many seconds to live at least, from its acceptance to the time that its owner states. */
export const gtdLeadSeconds = 180;

/** It leaves the book so many seconds before that time. */
export const gtdEarlySeconds = 60;

/** How far ahead of the clock of its partition an order may be signed, milliseconds. Part of the rules. */
export const signedAheadMaxMs = 300_000;

/** Seconds from the one of its acceptance to the one in which it leaves the book, at least. Part of the rules. */
export const gtdBookedMinSeconds = gtdLeadSeconds - gtdEarlySeconds;
