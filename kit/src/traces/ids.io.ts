import { randomBytes } from 'node:crypto';

const traceIdBytes = 16;
const spanIdBytes = 8;

/** The id of a new trace, 32 hex digits. */
export function newTraceId(): string {
  return randomBytes(traceIdBytes).toString('hex');
}

/** The id of a new span, 16 hex digits. */
export function newSpanId(): string {
  return randomBytes(spanIdBytes).toString('hex');
}
