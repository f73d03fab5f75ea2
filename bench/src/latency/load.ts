import type { PlacementResult } from '@pm/schemas/http/trading';
import { pace } from '../load/pace.ts';
import type { Trader, WorldMarket } from '../world/world.ts';
import type { Answer, Poster } from './poster.ts';

/** Results later than this are counted separately, milliseconds. */
export const lateMs = 1_000;

export interface SignedOrder {
  readonly trader: Pick<Trader, 'key'>;
  readonly body: string;
}

/** Result of a phase: every order is in exactly one of the counts. */
export interface PhaseResult {
  readonly latenciesMs: readonly number[];
  /** live, matched, delayed; or the refusal's code; or the HTTP status; or `no answer`. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly late: number;
  /** Largest delay of the load generator against its plan, milliseconds. */
  readonly plannedLateMs: number;
}

/** Pairs that meet: a BUY of one token at a half, then a BUY of the other; every second order is a fill. */
export function signOrders(
  count: number,
  markets: readonly WorldMarket[],
  traders: readonly Trader[],
): SignedOrder[] {
  return Array.from({ length: count }, (_, index) => {
    const pair = index >> 1;
    const market = markets[pair % markets.length];
    const trader = traders[(pair * 2 + (index % 2)) % traders.length];
    if (market === undefined || trader === undefined) throw new RangeError('no market or trader');
    const tokenId = market.tokens[index % 2 === 0 ? 0 : 1];
    return { trader, body: trader.sign({ tokenId, side: 'BUY', price: '0.5', size: '5' }).body };
  });
}

/** Sends the orders at a fixed rate, independent of responses; latency counts from the planned time. */
export async function runLoad(
  poster: Poster,
  orders: readonly SignedOrder[],
  perSecond: number,
): Promise<PhaseResult> {
  const latenciesMs: number[] = [];
  const outcomes: Record<string, number> = {};
  const answers: Promise<void>[] = [];
  let plannedLateMs = 0;
  const moments = orders.map((_, index) => (index * 1000) / perSecond);
  await pace(moments, (index, plannedAt) => {
    const { trader, body } = orders[index] ?? noOrder();
    plannedLateMs = Math.max(plannedLateMs, performance.now() - plannedAt);
    const answered = poster.post(trader.key, body).then((answer) => {
      const outcome = outcomeOf(answer);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (answer.status !== 0) latenciesMs.push(performance.now() - plannedAt);
    });
    answers.push(answered);
  });
  await Promise.all(answers);
  const late = latenciesMs.filter((ms) => ms > lateMs).length;
  return { latenciesMs, outcomes, late, plannedLateMs };
}

function noOrder(): never {
  throw new RangeError('there is an order for each moment');
}

/** The word of a response to one order. */
export function outcomeOf(answer: Answer): string {
  return outcomesOf(answer, 1)[0] ?? '';
}

/** The word of each of so many orders that a response is about. */
export function outcomesOf({ status, body }: Answer, orders: number): readonly string[] {
  const all = (word: string) => Array.from({ length: orders }, () => word);
  if (status === 0) return all('no answer');
  try {
    const answer = JSON.parse(body) as Partial<PlacementResult> | Partial<PlacementResult>[];
    const results = Array.isArray(answer) ? answer : [answer];
    if (results.length !== orders) return all(results[0]?.code ?? `HTTP ${status}`);
    return results.map(({ success, status: placed, code }) =>
      success === true ? (placed ?? 'live') : (code ?? `HTTP ${status}`),
    );
  } catch {
    return all(`HTTP ${status}`);
  }
}
