/** Messages of a stream are certainly missing: the exchange no longer sends them, or its log was replaced. */
export class StreamGapError extends Error {
  readonly channel: string;
  readonly key: string;
  /** The last message that was received. */
  readonly afterSeq: number;
  /** The first state after the gap; null when it is not known. */
  readonly nextSeq: number | null;

  constructor(
    gap: { readonly channel: string; readonly key: string },
    seqs: { readonly afterSeq: number; readonly nextSeq: number | null },
  ) {
    super(`messages of ${gap.channel} ${gap.key} after ${seqs.afterSeq} are missing`);
    this.name = 'StreamGapError';
    this.channel = gap.channel;
    this.key = gap.key;
    this.afterSeq = seqs.afterSeq;
    this.nextSeq = seqs.nextSeq;
  }
}

/** The exchange refuses a subscription or closes the connection for a reason that a repetition does not change. */
export class StreamRefusedError extends Error {
  /** Code of the error frame, or `close_<code>`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.name = 'StreamRefusedError';
    this.code = code;
  }
}
