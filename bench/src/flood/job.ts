import type { FloodRequest } from './kinds.ts';

/** A flood from one address. */
export interface FloodJob {
  readonly name: string;
  readonly url: string;
  readonly localAddress: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Sent in rotation; empty for new keys. */
  readonly requests: readonly FloodRequest[];
}

export interface FloodOutcome {
  readonly planned: number;
  /** By HTTP status and code of a refusal; `no answer`; `not sent` when too many were in flight. */
  readonly answers: Readonly<Record<string, number>>;
}
