import type { HrTime, SpanKind as SdkKind, SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { BatchSpanProcessor, ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Lifecycle } from '../lifecycle/index.ts';
import type { CounterMetric, MetricDeclarations, Metrics } from '../metrics/index.ts';
import type { FinishedSpan, SpanKind, SpanPlace, Traces } from './span.ts';

/** Spans of this process. */
export const traceMetrics = {
  spans: {
    type: 'counter',
    name: 'pm_trace_spans_total',
    help: 'Spans that the receiver of traces has taken (sent), refused or not answered (failed), or that found no room (dropped).',
    labels: ['outcome'],
  },
} as const satisfies MetricDeclarations;

type Outcomes = CounterMetric<'outcome'>;

/** Bounds of what waits for the receiver of traces. */
export const traceLimits = {
  /** Spans that wait or are on their way; further ones are dropped. */
  waitingMax: 4_096,
  /** Spans of one request. */
  batchMax: 512,
  /** Longest wait for a batch to fill, milliseconds. */
  delayMs: 1_000,
  /** One request with all its repetitions, milliseconds. */
  exportMs: 5_000,
  /** The last spans at a stop, milliseconds. */
  closeMs: 2_000,
};

/** Where traces go, and how many requests and orders have one. */
export interface TraceSettings {
  /** Base address of a receiver of OTLP over HTTP; empty for no traces. */
  readonly otlpUrl: string;
  readonly traceShare: number;
}

/** The process that makes the spans. */
export interface TracedProcess {
  /** Name of the program. */
  readonly service: string;
  readonly metrics: Metrics;
  readonly life: Pick<Lifecycle, 'onStop'>;
  /** For tests. */
  readonly limits?: typeof traceLimits;
}

/** The packages are loaded by processes that trace, and by no others. */
const loadSdk = async () => {
  const [{ BatchSpanProcessor: Batches }, { OTLPTraceExporter: Exporter }, resources] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  return { Batches, Exporter, resourceOf: resources.resourceFromAttributes };
};

/** Opens the way to the receiver of traces, which need not be there; null without an address or a share. */
export async function openTraces(
  { otlpUrl, traceShare }: TraceSettings,
  { service, metrics, life, limits = traceLimits }: TracedProcess,
): Promise<Traces | null> {
  if (otlpUrl === '' || traceShare === 0) return null;
  const { Batches, Exporter, resourceOf } = await loadSdk();
  const counts = metrics.open(traceMetrics).spans;
  const room = { waiting: 0 };
  const exporter = new Exporter({ url: `${otlpUrl}/v1/traces`, timeoutMillis: limits.exportMs });
  const batches = new Batches({
    exporter: counted(exporter, room, counts),
    maxQueueSize: limits.waitingMax,
    maxExportBatchSize: limits.batchMax,
    scheduledDelayMillis: limits.delayMs,
    // Longer than the exporter may take, which reports each end itself.
    exportTimeoutMillis: 2 * limits.exportMs,
  });
  life.onStop('traces', () => batches.shutdown(), limits.closeMs);
  const resource = resourceOf({
    'service.name': service,
    'service.namespace': 'prediction-exchange',
    'service.instance.id': String(process.pid),
  });
  return new SpanQueue({ batches, resource, room, counts, share: traceShare, limits });
}

/** Spans that wait or are on their way. */
interface Room {
  waiting: number;
}

/** Counts what the receiver says of each batch. */
function counted(exporter: SpanExporter, room: Room, counts: Outcomes): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        room.waiting -= spans.length;
        counts.add(spans.length, { outcome: result.code === 0 ? 'sent' : 'failed' });
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

interface SpanQueueParts {
  readonly batches: Pick<BatchSpanProcessor, 'onEnd'>;
  readonly resource: Resource;
  readonly room: Room;
  readonly counts: Outcomes;
  readonly share: number;
  readonly limits: typeof traceLimits;
}

/** The clock of the machine may be set while a process runs; a difference beyond this is taken over, milliseconds. */
const clockDriftMs = 5;

class SpanQueue implements Traces {
  readonly share: number;
  readonly #parts: SpanQueueParts;
  /** Unix milliseconds at zero of `performance.now()`. */
  #originMs = performance.timeOrigin;

  constructor(parts: SpanQueueParts) {
    this.#parts = parts;
    this.share = parts.share;
  }

  add(span: FinishedSpan): void {
    const { batches, resource, room, counts, limits } = this.#parts;
    if (room.waiting >= limits.waitingMax) {
      counts.add(1, { outcome: 'dropped' });
      return;
    }
    room.waiting += 1;
    batches.onEnd(readable(span, { resource, originMs: this.#origin() }));
  }

  #origin(): number {
    const originMs = Date.now() - performance.now();
    if (Math.abs(originMs - this.#originMs) > clockDriftMs) this.#originMs = originMs;
    return this.#originMs;
  }
}

const sdkKinds: Readonly<Record<SpanKind, SdkKind>> = {
  internal: 0,
  server: 1,
  client: 2,
  producer: 3,
  consumer: 4,
};

const unsetStatus = { code: 0 };
const errorStatus = { code: 2 };
const scope = { name: 'prediction-exchange' };

/** The span as the packages read it. They make none themselves: its ids are known before its work begins. */
function readable(
  span: FinishedSpan,
  { resource, originMs }: { readonly resource: Resource; readonly originMs: number },
): ReadableSpan {
  const context = contextOf(span);
  const { parentId, traceId, links = [] } = span;
  const parent = parentId === null ? null : contextOf({ traceId, spanId: parentId });
  return {
    name: span.name,
    kind: sdkKinds[span.kind],
    spanContext: () => context,
    ...(parent === null ? {} : { parentSpanContext: parent }),
    startTime: timeOf(originMs + span.startMs),
    endTime: timeOf(originMs + span.endMs),
    duration: timeOf(Math.max(0, span.endMs - span.startMs)),
    status: span.failed === true ? errorStatus : unsetStatus,
    attributes: span.attributes ?? {},
    links: links.map((link) => ({ context: contextOf(link) })),
    events: [],
    ended: true,
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({ traceId, spanId }: SpanPlace): SpanContext {
  return { traceId, spanId, traceFlags: 1 };
}

/** Seconds and nanoseconds. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
