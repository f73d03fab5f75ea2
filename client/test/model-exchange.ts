import type { Random } from '@pm/kit/random';
import type { OrderSubmission } from '@pm/schemas/http/trading';
import { type RefusalCode, refusalCodes, refusals } from '@pm/schemas/refusals';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { actionResult, idOf, refusedResult, storedOrder } from './fake-exchange.ts';

/** Fate of one request. A refusal does not look at the log: whoever refuses knows nothing of earlier attempts. */
type Fate =
  | 'served'
  | 'request lost'
  | 'request late'
  | 'response lost'
  | 'no response'
  | 'garbled'
  | 'page'
  | RefusalCode;

const fates: readonly Fate[] = [
  'request lost',
  'request late',
  'response lost',
  'no response',
  'garbled',
  'page',
];
/** Only the log says that it has no order. */
const openCodes = refusalCodes.filter(
  (code) => refusals[code].final !== true && code !== 'order_not_found',
);
/** Refusals of orders for good, by rules that have changed since earlier attempts. */
const rulesCodes: readonly RefusalCode[] = [
  'invalid_size',
  'invalid_tick_size',
  'invalid_expiration',
  'market_resolved',
];
const isOrder = (path: string): boolean => path === '/order' || path === '/orders';
/** A refusal by the matcher that it does not remember. */
const unfunded: RefusalCode = 'insufficient_balance_or_allowance';
const lateMaxMs = 3_000;
const latencyMaxMs = 40;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** No JSON. */
export const page = '<html>of a proxy</html>';

/** A log of orders behind a network that loses, delays, refuses and repeats; it runs on the clock of the test. */
export class ModelExchange {
  /** Order id to what became of it, for ever. */
  readonly log = new Map<string, 'booked' | RefusalCode>();
  /** Orders whose newest attempt the matcher has refused, and may book another one. */
  readonly #passed = new Map<string, RefusalCode>();
  /** Orders that the rules refused: those that come later are refused, too. */
  readonly #ruledOut = new Map<string, RefusalCode>();
  /** Requests that place orders, whatever became of them, by the time at which they left. */
  readonly posted: { readonly atMs: number; readonly ids: readonly string[] }[] = [];
  /** Orders that were booked after the last cancel of all. */
  readonly bookedSinceCancel = new Set<string>();
  /** Account action id to what became of it, for ever. */
  readonly actions = new Map<string, 'done' | RefusalCode>();
  /** Requests of orders, reads of them and account actions that fail, of a hundred. */
  faultPercent = 50;
  /** Attempts of orders that find no money, of a hundred; the next one may find some. */
  unfundedPercent = 15;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  readonly fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { pathname: path } = new URL(String(input));
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    const sent: Sent = { method: init.method ?? 'GET', path, body };
    if (sent.method === 'POST' && isOrder(path)) {
      const ids = [body as OrderSubmission].flat().map(idOf);
      this.posted.push({ atMs: performance.now(), ids });
    }
    const reply = await this.#replyTo(sent, init.signal ?? null);
    return responseOf(reply.status, reply.body);
  };

  async #replyTo(sent: Sent, signal: AbortSignal | null): Promise<Reply> {
    await wait(1 + this.#random.below(latencyMaxMs), signal);
    if (sent.method === 'DELETE' && sent.path === '/orders')
      return this.#cancel(sent.body as string[]);
    const fate = this.#fateOf(sent);
    switch (fate) {
      case 'served':
        return this.#serve(sent);
      case 'request lost':
        throw new TypeError('reset');
      case 'request late':
        setTimeout(() => this.#serve(sent), this.#random.below(lateMaxMs));
        throw new TypeError('reset');
      case 'response lost':
        this.#serve(sent);
        throw new TypeError('reset');
      case 'no response':
        this.#serve(sent);
        await wait(1_000_000, signal);
        throw new TypeError('reset');
      case 'garbled':
        this.#serve(sent);
        return { status: 200, body: { page: 'of a proxy' } };
      case 'page':
        return { status: 200, body: page };
      default:
        if (rulesCodes.includes(fate)) this.#ruleOut(fate, sent);
        return refusal(fate, sent);
    }
  }

  #fateOf({ path }: Sent): Fate {
    const isFated = /^\/(orders?|account|data)\b/.test(path);
    if (!isFated || this.#random.below(100) >= this.faultPercent) return 'served';
    const kinds = [fates, fates, openCodes, ...(isOrder(path) ? [rulesCodes] : [])];
    return this.#random.pick(this.#random.pick(kinds));
  }

  #ruleOut(code: RefusalCode, { body }: Sent): void {
    for (const one of [body as OrderSubmission].flat()) this.#ruledOut.set(idOf(one), code);
  }

  #serve({ path, method, body }: Sent): Reply {
    if (path === '/signing-domain') return ok({ ...testDomain, familyDomains: [] });
    if (path === '/neg-risk') return ok({ neg_risk: false });
    if (path === '/order') return this.#place(body as OrderSubmission);
    if (path === '/orders') {
      return ok((body as OrderSubmission[]).map((one) => this.#place(one).body));
    }
    if (path === '/cancel-all' && method === 'DELETE') {
      this.bookedSinceCancel.clear();
      return ok({ canceled: [], not_canceled: {} });
    }
    if (path.startsWith('/data/order/')) return this.#find(path.slice('/data/order/'.length));
    return this.#act((body as { id: string }).id);
  }

  #act(id: string): Reply {
    const fate = this.actions.get(id) ?? fateOfAction(id);
    this.actions.set(id, fate);
    if (fate === 'done') return ok(actionResult(id));
    return { status: refusals[fate].status, body: { error: fate, code: fate } };
  }

  #place(submission: OrderSubmission): Reply {
    const id = idOf(submission);
    const known = this.log.get(id);
    const ruledOut = this.#ruledOut.get(id);
    if (known === undefined && ruledOut !== undefined)
      return { status: refusals[ruledOut].status, body: refusedResult(ruledOut) };
    if (known === undefined && this.#random.below(100) < this.unfundedPercent) {
      this.#passed.set(id, unfunded);
      return { status: refusals[unfunded].status, body: refusedResult(unfunded) };
    }
    const fate = known ?? fateOfOrder(id);
    this.log.set(id, fate);
    if (fate !== 'booked') return { status: refusals[fate].status, body: refusedResult(fate) };
    if (known === undefined) this.bookedSinceCancel.add(id);
    return ok({
      ...refusedResult(''),
      code: undefined,
      success: true,
      orderID: id,
      status: 'live',
    });
  }

  /** Orders that have not come yet are refused when they do. */
  #cancel(ids: readonly string[]): Reply {
    const canceled = ids.filter((id) => this.log.get(id) === 'booked');
    for (const id of ids) if (!this.log.has(id)) this.log.set(id, 'fenced');
    for (const id of canceled) this.bookedSinceCancel.delete(id);
    return ok({ canceled, not_canceled: {} });
  }

  #find(id: string): Reply {
    const known = this.log.get(id);
    if (known === 'booked') return ok(storedOrder(id));
    const code = known ?? this.#passed.get(id) ?? 'order_not_found';
    return { status: 404, body: { error: code, code } };
  }
}

/** The part of a response that the client reads. */
export function responseOf(status: number, body: unknown): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = { ok: status < 300, status, headers: new Headers(), text: async () => text };
  return response as unknown as Response;
}

/** By its id: one in four is refused for good, one in eight because the exchange was slow. */
function fateOfOrder(id: string): 'booked' | RefusalCode {
  const part = Number.parseInt(id.slice(-1), 16);
  return part < 4 ? 'fok_not_filled' : part < 6 ? 'too_late' : 'booked';
}

/** By its id: one in four is refused for good. */
function fateOfAction(id: string): 'done' | RefusalCode {
  return Number.parseInt(id.slice(-1), 16) < 4 ? 'market_resolved' : 'done';
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}

function refusal(code: RefusalCode, { path, body }: Sent): Reply {
  const { status } = refusals[code];
  if (path === '/orders' && status !== 401) {
    return ok((body as unknown[]).map(() => refusedResult(code)));
  }
  const isOfOrders = path === '/order' && status !== 401 && status !== 403;
  return { status, body: { ...(isOfOrders ? refusedResult(code) : {}), error: code, code } };
}

function wait(ms: number, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new TypeError('aborted'));
    });
  });
}
