import type { CatalogMarket, Command, CommandOf, ExecutionEvent } from '@pm/schemas';
import { refusals } from '@pm/schemas';
import type { CommandLog } from '../ports.ts';

/** Why a command of the operator was not seen to be carried out. */
export interface RuleProblem {
  readonly status: 409 | 503;
  readonly text: string;
}

/** The market as the matcher knows it. */
export function setMarketCommand(market: CatalogMarket): CommandOf<'SetMarket'> {
  return {
    kind: 'SetMarket',
    market: market.market,
    conditionId: market.conditionId,
    token0: market.token0,
    token1: market.token1,
    tick: market.tick,
    minSizeMicro: market.minSizeMicro,
    feeRateBps: market.feeRateBps,
    mode: market.mode,
    takerDelayMs: market.takerDelayMs,
    tickOnly: false,
  };
}

/** Puts a command on the log and waits until the matcher says it is done; null then. */
export async function carryOut(
  log: CommandLog,
  partition: number,
  command: Command,
  done: ExecutionEvent['kind'],
): Promise<RuleProblem | null> {
  const outcome = await log.run(partition, command);
  if (outcome.kind === 'pending') return notYet('the partition has not answered in time');
  if (outcome.kind === 'unsent') return notYet('the command could not be put on the log');
  if (outcome.kind === 'rejected') return refused('the matcher does not take this operator key');
  for (const { event } of outcome.events) {
    if (event.kind === done) return null;
    if (event.kind === 'CommandRefused') return refused(refusals[event.code].text);
  }
  return refused('the matcher did not carry the command out');
}

function notYet(text: string): RuleProblem {
  return { status: 503, text: `${text}, try again` };
}

function refused(text: string): RuleProblem {
  return { status: 409, text };
}
