import { ordersPerRequestMax, type PlacementResult } from '@pm/schemas/http/trading';
import { type Answer, Poster } from '../latency/poster.ts';
import { openWorld, type Trader, type World } from '../world/world.ts';

/** Orders a second of one closed loop; refused ones are not counted. */
export interface LoopResult {
  readonly connections: number;
  readonly perRequest: number;
  readonly ordersPerSecond: number;
  /** Requests that did not place all of their orders, by outcome. */
  readonly failed: Readonly<Record<string, number>>;
}

const marketCount = ordersPerRequestMax;
const traderCount = 16;
export const connectionCounts = [1, 16] as const;
/** Signed ahead for a second of a loop, orders: a loop that runs out of them ends early, which its rate allows for. */
const signedPerSecond = { single: 300, batch: 1_200 };

interface Request {
  readonly trader: Trader;
  readonly body: string;
}

/** Singles and batches alternate over HTTP, sent to ingress directly, with the whole pipeline. */
export async function runLoops(rounds: number, seconds: number): Promise<readonly LoopResult[]> {
  const world = await openWorld({ markets: marketCount, traders: traderCount });
  const poster = new Poster(`http://127.0.0.1:${world.stack.ports.ingress}`);
  const results: LoopResult[] = [];
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const connections of connectionCounts) {
        for (const perRequest of [1, ordersPerRequestMax]) {
          const requests = signRequests(world, perRequest, seconds);
          const loop = { connections, perRequest, seconds };
          const result = await runLoop(poster, requests, loop);
          if (round >= 0) results.push(result);
        }
      }
    }
    return results;
  } finally {
    poster.close();
    await world.end();
  }
}

/** Every second trader buys the one token of a market at a half, the others the other: every second order is a fill. */
export function signRequests(
  { markets, traders }: World,
  perRequest: number,
  seconds: number,
): Request[] {
  const orders = seconds * (perRequest === 1 ? signedPerSecond.single : signedPerSecond.batch);
  return Array.from({ length: Math.ceil(orders / perRequest) }, (_, index) => {
    const place = index % traders.length;
    const trader = traders[place];
    if (trader === undefined) throw new RangeError('there are traders');
    const bodies = Array.from({ length: perRequest }, (_unused, item) => {
      const market = markets[(Math.floor(index / traders.length) + item) % markets.length];
      const tokenId = market?.tokens[place % 2 === 0 ? 0 : 1] ?? '';
      return trader.sign({ tokenId, side: 'BUY', price: '0.5', size: '5' }).body;
    });
    return { trader, body: perRequest === 1 ? (bodies[0] ?? '') : `[${bodies.join(',')}]` };
  });
}

/** Each connection sends its next request after its response, until time or requests run out. */
export async function runLoop(
  poster: Poster,
  requests: readonly Request[],
  loop: { readonly connections: number; readonly perRequest: number; readonly seconds: number },
): Promise<LoopResult> {
  const { connections, perRequest } = loop;
  const failed: Record<string, number> = {};
  let next = 0;
  const startedMs = performance.now();
  const isOver = () => performance.now() - startedMs > loop.seconds * 1000;
  let placed = 0;
  const send = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      if (isOver()) return;
      const { trader, body } = request;
      const answer = await poster.post(trader.key, body, perRequest === 1 ? '/order' : '/orders');
      const count = placedIn(answer);
      placed += count;
      if (count < perRequest)
        failed[String(answer.status)] = (failed[String(answer.status)] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  const ordersPerSecond = (placed * 1000) / (performance.now() - startedMs);
  return { connections, perRequest, ordersPerSecond, failed };
}

function placedIn({ status, body }: Answer): number {
  if (status !== 200) return 0;
  const answer = JSON.parse(body) as PlacementResult | PlacementResult[];
  return [answer].flat().filter((result) => result.success).length;
}
