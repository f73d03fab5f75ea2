/**
 * Every bound of the log client. kafkajs' own defaults are long for trading (300 ms first retry, 30 s session, 5 s
 * long poll: traps.md), so each is set here.
 */
export interface LogClientLimits {
  /** Opening one connection, milliseconds. */
  readonly connectTimeoutMs: number;
  /** One request without an answer is given up after this, milliseconds. */
  readonly requestTimeoutMs: number;
  /** First wait before a retry, milliseconds; doubles up to `maxRetryMs`. */
  readonly initialRetryMs: number;
  readonly maxRetryMs: number;
  /** Tries of one connection or metadata request before its caller decides; callers have loops of their own. */
  readonly connectionRetries: number;
  /** One batch of records, all retries included, milliseconds; after it the outcome is unknown. */
  readonly sendTimeoutMs: number;
  /** Time limit of `close()` for queued and running work, milliseconds. */
  readonly closeTimeoutMs: number;
  /** Records a producer keeps while one send is in flight. */
  readonly maxQueuedRecords: number;
  readonly maxQueuedBytes: number;
  /** Records of one send. kafkajs groups them in quadratic time: beyond 1,000 it costs more than it saves. */
  readonly maxBatchRecords: number;
  /** Bytes of one send; below the broker's default `max.message.bytes` of 1 MiB. */
  readonly maxBatchBytes: number;
  /** Records under one producer id; the sequence is an int32 that kafkajs wraps wrongly. */
  readonly maxRecordsPerProducerId: number;
  /** Looks at the broker's metadata before a partition counts as unknown. */
  readonly maxMetadataTries: number;
  /** Age after which a group member reloads metadata, milliseconds; added partitions are assigned within this time. */
  readonly metadataMaxAgeMs: number;
  /** Bytes of one fetch response, and of one partition in it. */
  readonly maxFetchBytes: number;
  readonly maxPartitionFetchBytes: number;
  /** Records fetched but not yet handled, per partition; a full partition is left out of the next fetch. */
  readonly maxBufferedBytes: number;
  readonly maxBufferedRecords: number;
  /** Long poll while a full partition waits to be fetched again, milliseconds. */
  readonly busyPollMs: number;
  /** A reader without one finished fetch for so long is stalled, milliseconds. Empty fetches count as progress. */
  readonly stallMs: number;
  /** Heartbeats of a group member, milliseconds; it also notices a rebalance within this time. */
  readonly heartbeatMs: number;
  /** Time limit of a rebalance for members to rejoin, milliseconds. */
  readonly rebalanceTimeoutMs: number;
  /** Time limit of a commit, including waits for a running rebalance, milliseconds. */
  readonly commitTimeoutMs: number;
  /** Crashes in a row after which a group member gives up. */
  readonly maxGroupRestarts: number;
}

export const defaultLimits: LogClientLimits = {
  connectTimeoutMs: 2_000,
  requestTimeoutMs: 3_000,
  initialRetryMs: 10,
  maxRetryMs: 500,
  connectionRetries: 6,
  sendTimeoutMs: 10_000,
  closeTimeoutMs: 5_000,
  maxQueuedRecords: 50_000,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxBatchRecords: 1_000,
  maxBatchBytes: 900 * 1024,
  maxRecordsPerProducerId: 1_000_000_000,
  maxMetadataTries: 4,
  metadataMaxAgeMs: 15_000,
  maxFetchBytes: 16 * 1024 * 1024,
  maxPartitionFetchBytes: 1024 * 1024,
  maxBufferedBytes: 4 * 1024 * 1024,
  maxBufferedRecords: 20_000,
  busyPollMs: 20,
  stallMs: 15_000,
  heartbeatMs: 300,
  rebalanceTimeoutMs: 10_000,
  commitTimeoutMs: 10_000,
  maxGroupRestarts: 20,
};

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
