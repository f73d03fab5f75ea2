import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a receiver of OTLP reads it. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentId: string;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
}

/** How the receiver treats requests. */
export type ReceiverMode = 'takes' | 'hangs' | 'refuses';

interface WireSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly WireAttribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}

interface WireAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

/** A receiver of OTLP over HTTP on this machine, which keeps all spans in memory. */
export class TraceReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Every body as text. */
  readonly bodies: string[] = [];
  readonly paths = new Set<string>();
  mode: ReceiverMode = 'takes';
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#take(request).then(() => {
        if (this.mode === 'hangs') return;
        response.writeHead(this.mode === 'takes' ? 200 : 400, {
          'content-type': 'application/json',
        });
        response.end('{}');
      });
    });
  }

  static async open(): Promise<TraceReceiver> {
    const receiver = new TraceReceiver();
    await new Promise<void>((done) => receiver.#server.listen(0, '127.0.0.1', done));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    this.paths.add(request.url ?? '');
    this.bodies.push(body);
    if (this.mode === 'takes') this.spans.push(...spansIn(JSON.parse(body) as WireBody));
  }
}

function spansIn({ resourceSpans }: WireBody): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => received(service, span)));
  });
}

function received(service: string, span: WireSpan): ReceivedSpan {
  return {
    service,
    name: span.name,
    traceId: span.traceId,
    spanId: span.spanId,
    parentId: span.parentSpanId ?? '',
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: valuesOf(span.attributes ?? []),
    links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
    failed: span.status?.code === 2,
  };
}

function valuesOf(attributes: readonly WireAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
