import { type Child, startChild } from '../child/child.ts';
import { type PhaseResult, signOrders } from '../latency/load.ts';
import type { OrdersJob } from '../streams-orders.ts';
import type { World } from '../world/world.ts';

const warmUpSeconds = 3;

/** A process that posts orders through the gateway in the first `markets` markets; ready when it is warm. */
export function startOrders(
  world: World,
  load: { readonly markets: number; readonly perSecond: number; readonly seconds: number },
): Child<PhaseResult> {
  const { perSecond, seconds } = load;
  const markets = world.markets.slice(0, load.markets);
  const signed = signOrders(perSecond * (warmUpSeconds + seconds), markets, world.traders);
  const sent = signed.map(({ trader, body }) => ({ trader: { key: trader.key }, body }));
  const warm = perSecond * warmUpSeconds;
  const url = world.stack.baseUrl;
  const job: OrdersJob = { url, perSecond, warmUp: sent.slice(0, warm), orders: sent.slice(warm) };
  return startChild<PhaseResult>('streams-orders', job);
}
