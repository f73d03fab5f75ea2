import { setTimeout as wait } from 'node:timers/promises';
import { type BuiltOrder, buildOrder, type Signer, signedHeaders } from '@pm/client';
import type { ApiKeyTrio, PlacementResult } from '@pm/schemas/http/trading';
import type { SigningDomain } from '@pm/schemas/signing';
import { untilNone } from '../whole-exchange.ts';

/** Requests of a trader, each of which is one try. */
export type Action = 'place' | 'cancel' | 'read';

const actions: readonly Action[] = ['place', 'cancel', 'read'];
/** So that the exchange has time left on two cores, milliseconds. */
const pauseMs = 300;
/** While a test waits for orders that are taken: an exchange that waits with it costs more than they do. */
const awaitedPauseMs = 50;
const requestMaxMs = 10_000;
/** An outage by a clock lasts for as long as the clock is off; this is far less, and many times what it takes. */
const goesOnMaxMs = 120_000;

interface LoopParts {
  readonly baseUrl: string;
  readonly signer: Signer;
  readonly key: ApiKeyTrio;
  readonly domain: SigningDomain;
  readonly tokens: readonly string[];
}

/** Places an order, cancels it and reads the open ones, round after round, and counts what comes back. */
export class OrderLoop {
  readonly placed = new Set<string>();
  /** Codes that refused each action since the last `forget`. */
  readonly codes: Record<Action, Set<string>> = {
    place: new Set(),
    cancel: new Set(),
    read: new Set(),
  };
  /** Longest time without an order that was placed, since the last `forget`, milliseconds. */
  longestMs = 0;
  #placedMs = performance.now();
  readonly #parts: LoopParts;
  #succeeded: Record<Action, number> = { place: 0, cancel: 0, read: 0 };
  /** Calls that wait for requests that succeed. */
  #awaiting = 0;
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#running = this.#run();
    this.#running.catch(() => undefined);
  }

  /** Forgets codes that were met, and the longest time without an order. */
  forget(): void {
    this.longestMs = 0;
    for (const action of actions) this.codes[action].clear();
  }

  /** Resolves when each of these has succeeded twice from here on: one of them began after the call. */
  async goesOn(what: string, wanted: readonly Action[] = actions): Promise<void> {
    const before = { ...this.#succeeded };
    const late = async () =>
      wanted
        .filter((action) => this.#succeeded[action] < before[action] + 2)
        .map((action) => `${action} (${[...this.codes[action]].join()})`);
    this.#awaiting += 1;
    try {
      await Promise.race([untilNone(what, late, goesOnMaxMs), this.#running]);
    } finally {
      this.#awaiting -= 1;
    }
  }

  /** Resolves when each of these was refused so. */
  async meets(code: string, refused: readonly Action[]): Promise<void> {
    const late = async () => refused.filter((action) => !this.codes[action].has(code));
    await Promise.race([untilNone(`refused as ${code}`, late, goesOnMaxMs), this.#running]);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) {
      const order = this.#order(round);
      await this.#place(order);
      await this.#ask('cancel', 'DELETE', '/order', JSON.stringify({ orderID: order.orderId }));
      await this.#ask('read', 'GET', '/data/orders', '');
      // No fast pace after a refused order: it would only cause more refusals.
      const isFast = this.#awaiting > 0 && this.placed.has(order.orderId);
      await wait(isFast ? awaitedPauseMs : pauseMs);
    }
  }

  #order(round: number): BuiltOrder {
    const { signer, key, domain, tokens } = this.#parts;
    const context = { signer, domain, negRisk: false, owner: key.apiKey, nowMs: Date.now() };
    const tokenId = tokens[round % tokens.length] ?? '';
    return buildOrder({ tokenId, side: 'BUY', price: '0.10', size: '5' }, context);
  }

  async #place({ orderId, submission }: BuiltOrder): Promise<void> {
    const body = JSON.stringify(submission);
    const result = (await this.#ask('place', 'POST', '/order', body)) as PlacementResult | null;
    if (result?.success !== true) return;
    this.placed.add(orderId);
    const nowMs = performance.now();
    this.longestMs = Math.max(this.longestMs, nowMs - this.#placedMs);
    this.#placedMs = nowMs;
  }

  /** The body of a response; null when there was none. */
  async #ask(action: Action, method: 'GET' | 'POST' | 'DELETE', path: string, body: string) {
    const { baseUrl, key, signer } = this.#parts;
    const holder = { ...key, address: signer.checksummed };
    const signed = signedHeaders(holder, { method, path, body }, Date.now());
    try {
      const response = await fetch(baseUrl + path, {
        method,
        headers: { 'content-type': 'application/json', ...signed },
        body: body === '' ? null : body,
        signal: AbortSignal.timeout(requestMaxMs),
      });
      const answer = (await response.json()) as { readonly code?: string };
      if (response.ok) this.#succeeded[action] += 1;
      else this.codes[action].add(String(answer.code ?? response.status));
      return answer;
    } catch {
      this.codes[action].add('no_answer');
      return null;
    }
  }
}
