import { withVirtualTimers } from '../../kit/test/time/virtual-timers.ts';
import { type Defects, noDefects } from './defects.ts';
import { Exchange } from './exchange.ts';
import { startMs } from './exchange-facts.ts';
import { planFaults } from './faults.ts';
import { judge } from './judge.ts';
import { calm } from './time/network.ts';

export interface RunOptions {
  readonly seed: number;
  /** Simulated time with requests and faults, milliseconds; then everything ends. */
  readonly forMs: number;
  readonly defects?: Defects;
  /** How many times as often as usual faults happen; default 1. */
  readonly faults?: number;
}

/** Counts of the requests, faults and responses of a run. */
export interface RunFigures {
  readonly seed: number;
  readonly virtualMs: number;
  readonly orders: number;
  readonly requests: number;
  readonly done: number;
  readonly refused: number;
  readonly crashes: number;
  readonly zombies: number;
  readonly lostMessages: number;
  readonly leaderChanges: number;
  readonly truncatedRecords: number;
  readonly lostLedgers: number;
  readonly repeatedInserts: number;
  readonly events: number;
  /** Two runs of one seed have the same. */
  readonly trace: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly codes: Readonly<Record<string, number>>;
}

/**
 * Time for everything to come to its end once nothing fails any more, milliseconds: more than twice as long as a lost
 * attempt of an order leaves it in doubt (client/src/sent-order.ts).
 */
const settleMs = 180_000;
const firstSettleMs = 20_000;
const readToEndMs = 6_000;

/** Runs an exchange from a seed and judges it. Throws what it finds. */
export function runSeed({
  seed,
  forMs,
  defects = noDefects,
  faults = 1,
}: RunOptions): Promise<RunFigures> {
  const exchange = new Exchange(seed, defects);
  return withVirtualTimers(exchange.scheduler, async () => {
    const { scheduler } = exchange;
    exchange.start();
    const endMs = startMs + forMs;
    planFaults(exchange, endMs, faults);
    await scheduler.runUntil(endMs);
    await settle(exchange);
    if (exchange.broken !== null) throw exchange.broken;
    const { brokers, ledger, tables } = exchange;
    const judging = judge({ brokers, ledger, tables, parts: exchange.parts });
    const carriedOut = await scheduler.runWhile(judging);
    for (const broken of exchange.answers.broken(carriedOut)) throw new Error(broken);
    return figuresOf(exchange, seed);
  });
}

/** Nothing fails any more, no new requests are made, and every request gets its answer. */
async function settle(exchange: Exchange): Promise<void> {
  const { scheduler, network } = exchange;
  exchange.isOpen = false;
  exchange.brokers.deaths = 0;
  network.faults = calm;
  for (const { machine } of exchange.slots) machine.skewMs = 0;
  const untilMs = scheduler.nowMs + settleMs;
  await scheduler.runUntil(scheduler.nowMs + firstSettleMs);
  const waiting = () => exchange.traders.reduce((sum, trader) => sum + trader.waiting, 0);
  while (waiting() > 0 && scheduler.nowMs < untilMs)
    await scheduler.runUntil(scheduler.nowMs + 5_000);
  if (waiting() > 0) throw new Error(`${waiting()} requests have no definite answer`);
  await scheduler.runUntil(scheduler.nowMs + firstSettleMs);
  // Without owners there are no ticks, so that readers come to an end.
  for (const { role, machine } of exchange.slots) if (role === 'matcher') machine.kill();
  await scheduler.runUntil(scheduler.nowMs + readToEndMs);
}

function figuresOf(exchange: Exchange, seed: number): RunFigures {
  const { scheduler, answers, network, brokers, groups, ledger, tables } = exchange;
  return {
    seed,
    virtualMs: Math.round(scheduler.nowMs - startMs),
    orders: exchange.traders.reduce((sum, trader) => sum + trader.orders, 0),
    requests: answers.requests,
    done: answers.done,
    refused: answers.refused,
    crashes: exchange.crashes,
    zombies: groups.zombies,
    lostMessages: network.lostMessages,
    leaderChanges: brokers.leaderChanges,
    truncatedRecords: brokers.truncatedRecords,
    lostLedgers: ledger.losses,
    repeatedInserts: tables.repeatedInserts,
    events: scheduler.events,
    trace: scheduler.trace,
    faults: Object.fromEntries([...exchange.faults].sort()),
    codes: Object.fromEntries([...answers.codes].sort()),
  };
}
