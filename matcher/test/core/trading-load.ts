import { Random } from '@pm/kit/random';
import type { Command, Envelope, PlaceOrder } from '@pm/schemas/log/orders';
import { holdMicro } from '@pm/schemas/money';
import {
  apiKeyOf,
  builderOf,
  envelopeOf,
  lotMicro,
  marketRules,
  orderOf,
  signerOf,
  splitOf,
  startMs,
  walletOf,
} from './commands.ts';

const walletCount = 48;
const feeRateBps = 200;
const splitMicro = 10_000_000 * lotMicro;

/**
 * A seeded load as a busy partition has it: many markets, deep queues, many orders of each wallet, few refusals. What a
 * random log visits rarely (large envelopes, thousands of resting orders, long tables) is usual here.
 */
export class TradingLoad {
  private readonly random: Random;
  private readonly middles: number[] = [];
  private readonly live: PlaceOrder[] = [];
  private nextId = 1;
  private nextRequest = 1;
  private clockMs = startMs;

  constructor(seed: number, markets: number) {
    this.random = new Random(seed);
    for (let market = 0; market < markets; market += 1)
      this.middles.push(2_000 + 10 * this.random.below(600));
  }

  /** Lists the markets and gives every wallet tokens. */
  *openingEnvelopes(): Generator<Envelope> {
    for (const market of this.middles.keys()) {
      yield envelopeOf([marketRules(market, { tick: 10, feeRateBps })], 'OPERATOR');
      yield envelopeOf(
        Array.from({ length: walletCount }, (_, wallet) => this.split(wallet, market)),
      );
    }
  }

  /** The next `count` commands; now and then a tick alone. */
  next(count: number): Envelope {
    if (this.random.below(20) > 0)
      return envelopeOf(Array.from({ length: count }, () => this.command()));
    this.clockMs += this.random.below(400);
    return envelopeOf([{ kind: 'Tick', term: 0, timeMs: this.clockMs }]);
  }

  private split(wallet: number, market: number): Command {
    this.nextRequest += 1;
    return splitOf(this.nextRequest, wallet, splitMicro, market);
  }

  private command(): Command {
    const roll = this.random.below(100);
    if (roll < 35 && this.live.length > 0) return this.cancel();
    const order = this.order(roll >= 95);
    if (roll < 95) this.live.push(order);
    return order;
  }

  private cancel(): Command {
    const place = this.random.below(this.live.length);
    const { orderId, signer } = this.live[place] as PlaceOrder;
    const last = this.live.pop() as PlaceOrder;
    if (place < this.live.length) this.live[place] = last;
    return { kind: 'CancelOrder', orderId, signer };
  }

  private order(takes: boolean): PlaceOrder {
    const market = Math.min(this.random.below(this.middles.length), this.random.below(100));
    const outcome = this.random.below(2);
    const side = this.random.pick(['BUY', 'SELL'] as const);
    const isBid = (side === 'BUY') === (outcome === 0);
    const price0 = this.priceOf(market, isBid === !takes);
    const price = outcome === 0 ? price0 : 10_000 - price0;
    const wallet = this.random.below(walletCount);
    const sizeMicro = (100 + this.random.below(takes ? 200_000 : 2_000)) * lotMicro;
    const amounts = { side, price, sizeMicro, budgetMicro: 0 };
    this.nextId += 1;
    return orderOf(this.nextId, wallet, {
      ...amounts,
      market,
      outcome,
      ...this.lasting(takes),
      holdMicro: holdMicro({ ...amounts, feeRateBps }),
      acceptedAtMs: this.clockMs,
      signedAtMs: this.clockMs - this.random.below(5_000),
      maker: walletOf(wallet),
      signer: signerOf(wallet % 7 === 0 ? wallet + 1 : wallet),
      apiKey: apiKeyOf(wallet * 2 + this.random.below(2)),
      builder: builderOf(this.random.below(4)),
      selfTrade: this.random.pick(['ALLOW', 'ALLOW', 'CANCEL_OLDEST', 'CANCEL_NEWEST'] as const),
    });
  }

  private lasting(takes: boolean): Pick<PlaceOrder, 'timeInForce' | 'expiresAtMs'> {
    if (takes) return { timeInForce: 'FAK', expiresAtMs: 0 };
    if (this.random.below(4) > 0) return { timeInForce: 'GTC', expiresAtMs: 0 };
    return { timeInForce: 'GTD', expiresAtMs: this.clockMs + 1_000 + this.random.below(20_000) };
  }

  /** Bids rest below the middle of the market, asks above; the middle walks. */
  private priceOf(market: number, below: boolean): number {
    const middle = this.middles[market] as number;
    if (this.random.below(50) === 0)
      this.middles[market] = Math.min(
        9_000,
        Math.max(1_000, middle + 10 * this.random.pick([-1, 1])),
      );
    const away = 10 * (this.random.below(60) - 2);
    return Math.min(9_990, Math.max(10, below ? middle - away : middle + away));
  }
}
