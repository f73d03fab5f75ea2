import type { FloodRequest, HeldConnection } from './kinds.ts';

/** A flood from one address. */
export interface FloodJob {
  readonly name: string;
  readonly url: string;
  readonly localAddress: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Sent in rotation; empty for new keys and for connections. */
  readonly requests: readonly FloodRequest[];
  readonly held: HeldConnection | null;
}

export interface FloodResult {
  readonly planned: number;
  /**
   * By HTTP status and code of a refusal; `no answer`; `not sent` when too many were in flight; of connections
   * `ended`, or `held` until the end.
   */
  readonly answers: Readonly<Record<string, number>>;
}
