import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeError } from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Random } from '@pm/kit/random';
import { nothingReceived, type SmokeMarket, Trader } from '../smoke/trader.ts';

const traderCount = 3;
const pollMs = 100;
/** A probe asks this long for one order, milliseconds; the next one is another order. */
const probe = { firstPauseMs: 100, longestPauseMs: 500, totalMs: 2_000 };

/** An exchange with the markets to trade in. */
export interface TradedWorld {
  readonly exchange: { readonly baseUrl: string };
  readonly markets: readonly SmokeMarket[];
}

/** Wallets that trade between accidents, and one of them that finds out when orders are booked again. */
export class DrillTraders {
  readonly #world: TradedWorld;
  #opened = 0;
  #isProbing = false;

  constructor(world: TradedWorld) {
    this.#world = world;
  }

  async trade(orders: number): Promise<void> {
    const traders = await this.#traders();
    await Promise.all(
      traders.map(async (trader, index) => {
        const random = new Random(index + 100);
        for (let sent = 0; sent < orders / traders.length; sent += 1)
          await trader.act(random.pick(this.#world.markets));
      }),
    );
  }

  /** Sends one order after the other until one is booked, or until it is given up. `onFailure`: what a client sees. */
  async untilBooked(onFailure: (text: string) => void): Promise<void> {
    this.#isProbing = true;
    const [market] = this.#world.markets;
    const [signer] = testAccounts();
    if (market === undefined || signer === undefined) throw new Error('nothing to trade with');
    const received = nothingReceived();
    const random = this.#random();
    const trader = new Trader(this.#baseUrl, signer, { received, random, retry: probe });
    let isConnected = false;
    while (this.#isProbing && received.placed.size === 0) {
      try {
        if (!isConnected) await trader.connect();
        isConnected = true;
        await trader.timeOne(market);
        for (const code of received.codes.keys()) onFailure(`client: ${code}`);
        if (received.placed.size === 0) await sleep(pollMs);
      } catch (error) {
        onFailure(`client: ${error instanceof ExchangeError ? error.code : messageOf(error)}`);
        await sleep(pollMs);
      }
    }
  }

  giveUp(): void {
    this.#isProbing = false;
  }

  async #traders(): Promise<readonly Trader[]> {
    const received = nothingReceived();
    const traders = testAccounts()
      .slice(0, traderCount)
      .map((signer) => {
        return new Trader(this.#baseUrl, signer, { received, random: this.#random() });
      });
    await Promise.all(traders.map((trader) => trader.connect()));
    return traders;
  }

  /** Each trader acts otherwise, and in each drill the same. */
  #random(): Random {
    this.#opened += 1;
    return new Random(this.#opened);
  }

  get #baseUrl(): string {
    return this.#world.exchange.baseUrl;
  }
}
