import { createHash } from 'node:crypto';
import { Random } from '@pm/kit/random';
import { Engine } from '@pm/matcher/core';
import { openOrdersPerWalletMax } from '@pm/schemas/log/executions';
import type { Command, CommandOf } from '@pm/schemas/log/orders';
import { envelopeOf, groupsOf } from '../stream/envelopes.ts';

const markets = 200;
const wallets = 4_000;
/** Each wallet trades in so many of them. */
const marketsPerWallet = 25;
const perEnvelope = 256;
const clockMs = 1_760_000_000_000;
/** One order in this number is canceled again while the state is built, so that slots are not in order of arrival. */
const canceledOf = 5;

const names = Array.from({ length: wallets }, (_, index) =>
  hash(`wallet ${index}`).subarray(0, 20),
);
const noBuilder = Buffer.alloc(32);

/** An engine with resting orders that never match, and further records for it. */
export class RestingState {
  readonly engine = new Engine(0);
  readonly #random = new Random(11);
  /** Placed and not canceled, the oldest first. */
  readonly #placed: CommandOf<'PlaceOrder'>[] = [];
  #orders = 0;
  #records = 0;

  /** `resting` orders of 4,000 wallets on 200 markets. Throws when one was refused. */
  constructor(resting: number) {
    if (resting > wallets * openOrdersPerWalletMax * 0.5) throw new RangeError('too many orders');
    for (const group of groupsOf(openingCommands(), perEnvelope)) this.#apply(group);
    while (this.engine.openOrderCount < resting) {
      const left = resting - this.engine.openOrderCount;
      this.#apply(this.#newOrders(Math.min(perEnvelope, left)));
      if (left > perEnvelope) this.#apply(this.#cancels(Math.floor(perEnvelope / canceledOf)));
    }
  }

  /** A record of live trading: so many orders, and as many cancels of older ones. */
  next(orders: number): void {
    this.#apply([...this.#newOrders(orders), ...this.#cancels(orders)]);
  }

  /** Cancels everything, so that only the memory of the ids is left. */
  cancelAll(): void {
    while (this.#placed.length > 0) this.#apply(this.#cancels(perEnvelope));
  }

  get orders(): number {
    return this.#orders;
  }

  #apply(commands: Command[]): void {
    const { written } = this.engine.apply(envelopeOf(commands, this.#records), this.#records);
    this.#records += 1;
    const [refusal] = written.refusals;
    if (refusal !== undefined) throw new Error(`a command was refused: ${refusal}`);
  }

  #newOrders(count: number): Command[] {
    return Array.from({ length: count }, () => {
      const order = this.#order();
      this.#placed.push(order);
      return order;
    });
  }

  /** Cancels orders from anywhere among those that rest. */
  #cancels(count: number): Command[] {
    const commands: Command[] = [];
    for (let left = Math.min(count, this.#placed.length); left > 0; left -= 1) {
      const at = this.#random.below(this.#placed.length);
      const { orderId, signer } = this.#placed[at] as CommandOf<'PlaceOrder'>;
      this.#placed[at] = this.#placed.at(-1) as CommandOf<'PlaceOrder'>;
      this.#placed.pop();
      commands.push({ kind: 'CancelOrder', orderId, signer });
    }
    return commands;
  }

  #order(): CommandOf<'PlaceOrder'> {
    const random = this.#random;
    const index = random.below(wallets);
    const wallet = names[index] as Buffer;
    this.#orders += 1;
    return {
      kind: 'PlaceOrder',
      orderId: hash(`order ${this.#orders}`),
      market: (index * 7 + random.below(marketsPerWallet)) % markets,
      // A bid below the middle for either token: as bids and asks of one book they never meet.
      outcome: random.below(2) as 0 | 1,
      side: 'BUY',
      timeInForce: 'GTC',
      postOnly: false,
      price: 10 * (1 + random.below(450)),
      sizeMicro: 5_000_000,
      budgetMicro: 0,
      holdMicro: 10_000_000,
      generation: 0,
      expiresAtMs: 0,
      acceptedAtMs: clockMs,
      ageLimitMs: 0,
      signedAtMs: clockMs,
      maker: wallet,
      signer: wallet,
      apiKey: wallet.subarray(0, 16),
      builder: noBuilder,
      selfTrade: 'CANCEL_NEWEST',
    };
  }
}

function* openingCommands(): Generator<Command> {
  yield {
    kind: 'OpenPartition',
    partition: 0,
    operatorKey: Buffer.alloc(32, 1),
    feeWallet: Buffer.alloc(20, 0xfe),
    bookAgeLimitMs: 2_000,
    orderAgeLimitMs: 3_600_000,
    timeMs: clockMs,
  };
  for (let market = 0; market < markets; market += 1) {
    const token0 = hash(`token 0 of ${market}`);
    const token1 = hash(`token 1 of ${market}`);
    const conditionId = hash(`condition ${market}`);
    const facts = { tick: 10, minSizeMicro: 0, feeRateBps: 200, takerDelayMs: 0, tickOnly: false };
    yield { kind: 'SetMarket', market, conditionId, token0, token1, mode: 'OPEN', ...facts };
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
