export { newSpanId, newTraceId } from './ids.io.ts';
export { openTraces, traceMetrics } from './open.io.ts';
export type { FinishedSpan, RequestTrace, SpanPlace, Traces } from './span.ts';
export {
  isTraceInShare,
  type RemoteSpan,
  readTraceparent,
  traceparentHeader,
  traceparentOf,
} from './traceparent.ts';
