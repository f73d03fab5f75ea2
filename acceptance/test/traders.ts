import { setTimeout as wait } from 'node:timers/promises';
import type { RetryPolicy, Signer } from '@pm/client';
import { Random } from '@pm/kit/random';
import { nothingReceived, type SmokeMarket, Trader } from '../src/smoke/trader.ts';
import type { WholeExchange } from './whole-exchange.ts';

interface TradersOptions {
  readonly accounts: readonly Signer[];
  /** Base URL of each trader by its number. */
  baseUrlOf(index: number): string;
  /** First seeds of the orders of the traders, and of the pauses between them. */
  readonly seeds: { readonly orders: number; readonly pauses: number };
  readonly retry: RetryPolicy;
  /** Between two actions of a trader, milliseconds. */
  readonly thinkMs: { readonly least: number; readonly most: number };
}

/** Wallets that trade in all markets until `stop` is called; one whose calls end without a result fails. */
export async function openTraders(
  exchange: WholeExchange,
  { accounts, baseUrlOf, seeds, retry, thinkMs }: TradersOptions,
) {
  const received = nothingReceived();
  const traders = accounts.map((signer, index) => {
    const random = new Random(seeds.orders + index);
    return new Trader(baseUrlOf(index), signer, { received, random, retry });
  });
  await Promise.all(traders.map((trader) => trader.connect()));
  const markets = exchange.markets.map(
    ({ id, conditionId, partition, tokenIds: [first = '', second = ''] }): SmokeMarket => ({
      market: Number(id),
      partition,
      conditionId,
      tokenIds: [first, second],
    }),
  );
  let isOver = false;
  const trading = traders.map(async (trader, index) => {
    const random = new Random(seeds.pauses + index);
    while (!isOver) {
      await trader.act(random.pick(markets));
      await wait(random.integer(thinkMs.least, thinkMs.most));
    }
  });
  const ended = Promise.all(trading);
  ended.catch(() => undefined);
  const stop = async () => {
    isOver = true;
    await ended;
  };
  return { received, ended, stop };
}
