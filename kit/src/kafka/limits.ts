import { readerSilenceMaxMs } from './reader-silence.ts';

/**
 * Every bound of the log client. kafkajs' own defaults are long for trading (300 ms first retry, 30 s session, 5 s
 * long poll: traps.md), so each is set here.
 */
export interface LogClientLimits {
  /** Opening one connection, milliseconds. */
  readonly connectTimeoutMs: number;
  /** One request without an answer is given up after this, milliseconds. */
  readonly requestTimeoutMs: number;
  /**
   * A request without an answer for so long makes its broker suspect, milliseconds: other brokers are asked who leads,
   * and a request whose partitions have all moved is given up.
   */
  readonly silenceMs: number;
  /**
   * Time between two such looks, and time limit of one, milliseconds; also the time after which one more broker is
   * asked, and the longest wait before a request goes to a leader again.
   */
  readonly leaderLookMs: number;
  /**
   * Time between two looks of a reader at the leaders while nothing fails, milliseconds; also the time without a fetch
   * after which it asks for the end of a partition.
   */
  readonly leaderCheckMs: number;
  /** Wait of a leader for its followers, milliseconds; shorter than a request, so that it says so itself. */
  readonly ackTimeoutMs: number;
  /** A question about topics that are being made or about a group is given up after this, milliseconds. */
  readonly metadataTimeoutMs: number;
  /** First wait before a retry, milliseconds; doubles up to `leaderLookMs` at a leader, else up to `maxRetryMs`. */
  readonly initialRetryMs: number;
  readonly maxRetryMs: number;
  /** Tries of one connection or metadata request before its caller decides; callers have loops of their own. */
  readonly connectionRetries: number;
  /** One batch of a partition, all retries included, milliseconds; after it the batch is given up. */
  readonly sendTimeoutMs: number;
  /** Time limit of `close()` for queued and running work, milliseconds. */
  readonly closeTimeoutMs: number;
  /** Records that a producer keeps while its partitions have a batch in flight. */
  readonly maxQueuedRecords: number;
  readonly maxQueuedBytes: number;
  /** Records of one request; beyond 1,000 it costs more than it saves. */
  readonly maxBatchRecords: number;
  /** Bytes of one request; below the broker's default `max.message.bytes` of 1 MiB. */
  readonly maxBatchBytes: number;
  /** Records of one partition under one epoch of a producer; their sequence is an int32. */
  readonly maxSequence: number;
  /** Epochs under one producer id, an int16; after them there is a new producer id. */
  readonly maxEpoch: number;
  /** Looks at the broker's metadata before a partition counts as unknown. */
  readonly maxMetadataTries: number;
  /** Time between two looks of a group member for added partitions, which are assigned within it, milliseconds. */
  readonly metadataMaxAgeMs: number;
  /** Bytes of one fetch response, and of one partition in it. */
  readonly maxFetchBytes: number;
  readonly maxPartitionFetchBytes: number;
  /** Records fetched but not yet handled, per partition; a full partition is left out of the next fetch. */
  readonly maxBufferedBytes: number;
  readonly maxBufferedRecords: number;
  /** Long poll while a full partition waits to be fetched again, milliseconds. */
  readonly busyPollMs: number;
  /**
   * A partition of a reader without a fetch that its leader answered for so long is stalled, milliseconds; after half
   * of it the broker is connected again. Empty fetches count as progress; a partition that is full waits for its
   * handler.
   */
  readonly stallMs: number;
  /** Heartbeats of a group member, milliseconds; it also notices a rebalance within this time. */
  readonly heartbeatMs: number;
  /** Time limit of a rebalance for members to rejoin, milliseconds. */
  readonly rebalanceTimeoutMs: number;
  /** Partitions of a group that a member restores at the same time. */
  readonly restoresAtOnce: number;
  /** Time limit of a commit, including waits for a running rebalance, milliseconds. */
  readonly commitTimeoutMs: number;
  /** Crashes in a row after which a group member gives up, unless the log is away. */
  readonly maxGroupRestarts: number;
}

export const defaultLimits: LogClientLimits = {
  connectTimeoutMs: 2_000,
  requestTimeoutMs: 3_000,
  silenceMs: 500,
  leaderLookMs: 250,
  leaderCheckMs: 1_000,
  ackTimeoutMs: 2_500,
  metadataTimeoutMs: 1_000,
  initialRetryMs: 10,
  maxRetryMs: 500,
  connectionRetries: 6,
  sendTimeoutMs: 10_000,
  closeTimeoutMs: 5_000,
  maxQueuedRecords: 50_000,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxBatchRecords: 1_000,
  maxBatchBytes: 900 * 1024,
  maxSequence: 1_000_000_000,
  maxEpoch: 32_000,
  maxMetadataTries: 4,
  metadataMaxAgeMs: 15_000,
  maxFetchBytes: 16 * 1024 * 1024,
  maxPartitionFetchBytes: 1024 * 1024,
  maxBufferedBytes: 4 * 1024 * 1024,
  maxBufferedRecords: 20_000,
  busyPollMs: 20,
  stallMs: readerSilenceMaxMs,
  heartbeatMs: 300,
  rebalanceTimeoutMs: 10_000,
  restoresAtOnce: 16,
  commitTimeoutMs: 10_000,
  maxGroupRestarts: 20,
};

/** Limits of a tool: it has time, and no other process takes over, so a busy machine must not end it. */
export const toolLimits: Partial<LogClientLimits> = { stallMs: 60_000, maxMetadataTries: 60 };

/**
 * Wait before a request goes to a leader again after so many failures before this one, milliseconds. A broker that
 * answers may hear of the new leader in a moment. One that cannot be reached is tried again once at once, and then as
 * often as leaders are looked up: a lost broker must not cost the others their processors.
 */
export function leaderRetryMs(
  failuresBefore: number,
  wasAnswered: boolean,
  { initialRetryMs, leaderLookMs }: Pick<LogClientLimits, 'initialRetryMs' | 'leaderLookMs'>,
): number {
  if (failuresBefore > 0 && !wasAnswered) return leaderLookMs;
  return Math.min(initialRetryMs * 2 ** Math.min(failuresBefore, 10), leaderLookMs);
}

/** Retries whose waits together make up `sendTimeoutMs`; kafkajs counts tries, we bound time. */
export function retriesWithin(limits: LogClientLimits): number {
  let waitMs = limits.initialRetryMs;
  let totalMs = 0;
  let tries = 0;
  while (totalMs < limits.sendTimeoutMs) {
    totalMs += waitMs;
    waitMs = Math.min(waitMs * 2, limits.maxRetryMs);
    tries += 1;
  }
  return tries;
}
