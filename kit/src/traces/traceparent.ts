import type { SpanPlace } from './span.ts';

/** The header of W3C Trace Context that names the span of the caller. */
export const traceparentHeader = 'traceparent';

/** The span of a caller, and whether the caller records its trace. */
export interface RemoteSpan extends SpanPlace {
  readonly isSampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,256})?$/;
const invalidVersion = 'ff';
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** The span that a header names; null for a header that is absent or breaks the form, which counts as absent. */
export function readTraceparent(header: unknown): RemoteSpan | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = form.exec(header) ?? [];
  if (version === undefined || version === invalidVersion) return null;
  // Later versions may add fields at the end.
  if (version === '00' && rest !== undefined) return null;
  if (traceId === noTrace || spanId === noSpan) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header that names a span which is recorded. */
export function traceparentOf({ traceId, spanId }: SpanPlace): string {
  return `00-${traceId}-${spanId}-01`;
}

const lastDigits = 8;
const drawn = 2 ** 32;

/**
 * Whether a trace of requests is recorded. It depends on the id alone, so that all processes with one share decide
 * alike.
 */
export function isTraceInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-lastDigits), 16) < share * drawn;
}
