import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exampleOf } from '@pm/schemas/http/example-of';
import { StoredOrder } from '@pm/schemas/http/reading';
import { noOrder, type OrderSubmission } from '@pm/schemas/http/trading';
import type { SigningDomain } from '@pm/schemas/signing';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { domainSeparator, orderDigest, orderIdOf } from '../src/eip712.ts';

/** Fate of a request: it is served, its connection dies before or after that, or it gets this response instead. */
export type Fate =
  | 'serve'
  | 'lose the request'
  | 'lose the response'
  | { readonly status: number; readonly body: unknown; readonly retryAfter?: number };

export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

type Answer = { readonly status: number; readonly body: unknown };

/** The behaviour of an exchange towards a client: an order sent twice is one order with one result. */
export class FakeExchange {
  readonly received: Heard[] = [];
  /** Order id -> how often it was booked: never more than once, or the fake is wrong. */
  readonly booked = new Map<string, OrderSubmission>();
  /** Order id -> the refusal the log remembers. */
  readonly refused = new Map<string, string>();
  /** Fates of the requests to come, except `/neg-risk`, the domain and keys; then everything is served. */
  fates: Fate[] = [];
  /** Requests of this method only have fates; null for all. */
  fatedMethod: string | null = null;
  /** Orders that the log refuses, for ever. */
  refuses: (orderId: string) => boolean = () => false;
  /** Fields of the orders that it returns by id. */
  stored: Partial<StoredOrder> = {};
  /** Responses of routes that the fake does not implement. */
  answer: (received: Heard) => Answer = () => ({ status: 404, body: { error: 'not found' } });
  /** Responses to the next requests for a key, in front of the key; their timestamps and signatures are noted. */
  keyAnswers: Answer[] = [];
  readonly keyProofs: string[] = [];
  /** Domain of signatures that the fake exchange publishes. */
  domain: SigningDomain & { familyDomains: [] } = { ...testDomain, familyDomains: [] };
  /** Requests that get no response; those of plain paths do. */
  hangs: (received: Heard) => boolean = () => false;
  /** Settles before a request is served. */
  before: (received: Heard) => Promise<unknown> = async () => {};
  /** Its clock minus that of the client: it refuses proofs of another time. Null: it looks at no timestamps. */
  aheadMs: number | null = null;
  delayMs = 0;
  running = 0;
  mostRunning = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#handle(request, response);
    });
  }

  static async open(): Promise<FakeExchange> {
    const fake = new FakeExchange();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests that hang lose their connections. */
  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.dropConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  receivedAt(path: string): Heard[] {
    return this.received.filter((one) => one.path === path);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    const received = await read(request);
    const isPlain = plainPaths.includes(received.path);
    const isFated = this.fatedMethod === null || this.fatedMethod === received.method;
    const fate = this.#skew(received) ?? (isPlain || !isFated ? 'serve' : this.#nextFate());
    if (!isPlain) this.received.push(received);
    if (!isPlain && this.hangs(received)) return;
    await this.before(received);
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    this.running -= 1;
    if (fate === 'lose the request') return void request.socket.destroy();
    const { status, body } = typeof fate === 'object' ? fate : this.#serve(received);
    if (fate === 'lose the response') return void request.socket.destroy();
    const wait = typeof fate === 'object' ? fate.retryAfter : undefined;
    response.writeHead(status, {
      'content-type': 'application/json',
      date: new Date(Date.now() + (this.aheadMs ?? 0)).toUTCString(),
      ...(wait === undefined ? {} : { 'retry-after': String(wait) }),
    });
    response.end(JSON.stringify(body));
  }

  #nextFate(): Fate {
    return this.fates.shift() ?? 'serve';
  }

  /** The refusal of a timestamp in milliseconds that differs by more than 30 s, or of one in seconds by 300. */
  #skew({ headers }: Heard): Fate | null {
    const text = headers['service_timestamp'];
    if (this.aheadMs === null || text === undefined) return null;
    const [unitMs, mostMs] = String(text).length > 10 ? [1, 30_000] : [1_000, 300_000];
    const server_time = Date.now() + this.aheadMs;
    if (Math.abs(Number(text) * unitMs - server_time) <= mostMs) return null;
    const body = { error: 'TIMESTAMP_SKEW', code: 'timestamp_skew', server_time };
    return { status: 401, body };
  }

  #serve(received: Heard): Answer {
    const { method, path, body } = received;
    if (path === '/signing-domain') return { status: 200, body: this.domain };
    if (path === '/neg-risk') return { status: 200, body: { neg_risk: false } };
    if (path === '/auth/api-key' && method === 'POST') {
      this.keyProofs.push(String(received.headers['service_signature']));
      return this.keyAnswers.shift() ?? { status: 200, body: testKey };
    }
    if (path === '/order' && method === 'POST') return this.#placeOne(body as OrderSubmission);
    if (path === '/orders' && method === 'POST') {
      const results = (body as OrderSubmission[]).map((item) => this.#placeOne(item).body);
      return { status: 200, body: results };
    }
    if (path.startsWith('/data/order/')) return this.#find(path.slice('/data/order/'.length));
    return this.answer(received);
  }

  #placeOne(submission: OrderSubmission): Answer {
    const id = idOf(submission);
    if (this.refuses(id)) {
      this.refused.set(id, 'fok_not_filled');
      return { status: 400, body: refusedResult('fok_not_filled') };
    }
    this.booked.set(id, submission);
    return { status: 200, body: placedResult(id) };
  }

  #find(id: string): Answer {
    const code = this.refused.get(id);
    if (code !== undefined) return { status: 404, body: { error: 'order not found', code } };
    if (!this.booked.has(id)) return { status: 404, body: { error: 'order not found' } };
    return { status: 200, body: { ...storedOrder(id), ...this.stored } };
  }
}

const plainPaths = ['/neg-risk', '/signing-domain', '/auth/api-key'];
const testKey = { apiKey: 'key', secret: `${'A'.repeat(43)}=`, passphrase: 'p' };

export function placedResult(id: string) {
  return {
    success: true,
    errorMsg: '',
    orderID: id,
    orderHash: id,
    status: 'live',
    makingAmount: '0',
    takingAmount: '0',
  };
}

export function refusedResult(code: string) {
  return { success: false, errorMsg: code, code, ...noOrder };
}

/** The response to an account action that is carried out. */
export function actionResult(id: string): object {
  return { success: true, action: 'split', id, request_id: id, wallet: '0x' };
}

/** As `GET /data/order/{id}` has it. */
export function storedOrder(id: string): object {
  const stored = exampleOf(StoredOrder) as StoredOrder;
  const open = { status: 'LIVE', reason: null, code: null, ended_at: null };
  return { ...stored, ...open, id, size_matched: '0', associate_trades: [] };
}

async function read(request: IncomingMessage): Promise<Heard> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const url = new URL(request.url ?? '/', 'http://fake');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: text === '' ? null : JSON.parse(text),
  };
}

/** The id that follows from what was signed. */
export function idOf({ order }: OrderSubmission): string {
  const struct = {
    salt: BigInt(order.salt),
    maker: order.maker,
    signer: order.signer,
    tokenId: BigInt(order.tokenId),
    makerAmount: BigInt(order.makerAmount),
    takerAmount: BigInt(order.takerAmount),
    side: order.side,
    signatureType: order.signatureType,
    timestampMs: BigInt(order.timestamp),
    metadata: order.metadata ?? '',
    builder: order.builder ?? '',
  };
  return orderIdOf(orderDigest(struct, domainSeparator(testDomain, false)));
}
