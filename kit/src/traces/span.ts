/** The place of a span: 32 and 16 hex digits. */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
}

/** Kind of the work of a span; `consumer` and `producer` are those of the log. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Ids and counts; never secrets, keys, signatures or amounts of wallets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work that has ended. */
export interface FinishedSpan extends SpanPlace {
  /** Null for the first span of a trace. */
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds of `performance.now()`. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes?: SpanAttributes;
  /** Spans of other traces that it belongs to. */
  readonly links?: readonly SpanPlace[];
  readonly failed?: boolean;
}

/** The span of a request while it runs. */
export interface RequestTrace extends SpanPlace {
  readonly parentId: string | null;
  /** The span of a caller whose trace does not go on; null for none. */
  readonly caller: SpanPlace | null;
  /** Spans of the orders of the request, at most as many as one may have. */
  readonly orders: SpanPlace[];
}

/** Takes the spans of this process. */
export interface Traces {
  /** Share of orders and requests that have a trace, 0 to 1. */
  readonly share: number;
  /** Never throws and never waits; a span for which there is no room is dropped and counted. */
  add(span: FinishedSpan): void;
}
