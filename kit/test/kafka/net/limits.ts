import type { LogClientLimits } from '../../../src/kafka/limits.ts';

/** About half of what runs in production, so that more happens in a second; small lanes, so that they fill up. */
export const limits: Partial<LogClientLimits> = {
  connectTimeoutMs: 900,
  requestTimeoutMs: 1_500,
  silenceMs: 250,
  leaderLookMs: 125,
  leaderCheckMs: 500,
  ackTimeoutMs: 1_200,
  metadataTimeoutMs: 500,
  maxRetryMs: 250,
  sendTimeoutMs: 8_000,
  closeTimeoutMs: 2_000,
  metadataMaxAgeMs: 4_000,
  maxBufferedRecords: 15,
  stallMs: 3_000,
  heartbeatMs: 200,
  rebalanceTimeoutMs: 3_000,
  commitTimeoutMs: 3_000,
};

export const sessionMs = 1_500;
export const stallMs = 3_000;
/** Longest wait of a fetch, milliseconds. */
export const maxWaitMs = 300;
