import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { sameFacts } from '@pm/domain/catalog/facts';
import { feeVersionOf } from '@pm/domain/catalog/market-rules';
import type { CommandSender } from '@pm/domain/commands/command-channel.io';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { Keccak } from '@pm/domain/orders/eip712';
import type { Clock } from '@pm/kit/clock';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command, CommandOf } from '@pm/schemas/log/orders';
import { refusals } from '@pm/schemas/refusals';
import { isResolved, notFound, notYet, type OperatorProblem, refused } from '../requests.io.ts';
import type { TradedMarkets } from '../traded-markets.io.ts';
import type { CatalogLocks } from './catalog-locks.io.ts';
import type { CatalogWriter } from './catalog-writer.io.ts';

/** Dependencies of everything that changes the catalog. */
export interface CatalogServices {
  readonly catalog: CatalogIndex;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly keccak: Keccak;
  readonly partitions: Pick<PartitionLiveness, 'numbers' | 'placeable'>;
  readonly traded: Pick<TradedMarkets, 'isTraded'>;
  /** Time between the notice of a higher fee of a traded market and its beginning, milliseconds. */
  readonly feeNoticeMs: number;
  /** Markets that may be listed, resolved ones included: every process keeps facts of each. */
  readonly marketsMax: number;
  /** Commands signed with the operator's key. */
  readonly commands: Pick<CommandSender, 'run'>;
  readonly writer: Pick<CatalogWriter, 'writeRoutes' | 'writeEntries' | 'deleteMarket'>;
  /** The locks of all changes of the catalog in this process. */
  readonly locks: CatalogLocks;
}

/** The changed market, or the problem with the change; the same object when nothing changes. */
export type MarketEdit = (market: CatalogMarket) => CatalogMarket | OperatorProblem;

export interface EditedMarket {
  readonly market: CatalogMarket;
  /** Whether the catalog had other values before. */
  readonly changed: boolean;
}

/**
 * Changes the rules of a market under its lock: first in its book, then in the catalog. The book also gets values that
 * the catalog has already: an earlier change without a result in time may have reached the book alone.
 */
export function changeMarket(
  number: number,
  { catalog, clock, commands, locks, writer }: CatalogServices,
  edit: MarketEdit,
): Promise<EditedMarket | OperatorProblem> {
  return locks.market(number, async () => {
    const market = catalog.findMarket(number);
    if (market === undefined) return notFound;
    if (market.payout0 >= 0) return isResolved;
    const edited = edit(market);
    if ('status' in edited) return edited;
    if (edited === market) return { market, changed: false };
    const command = setMarketCommand(edited);
    const problem = await carryOut(commands, market.partition, command, 'MarketSet');
    if (problem !== null) return problem;
    if (sameFacts(market, edited)) return { market, changed: false };
    const feeVersion = feeVersionOf(market, edited);
    const entry = { ...edited, feeVersion, updatedAtMs: clock.nowMs() };
    await writer.writeEntries([entry]);
    return { market: entry, changed: true };
  });
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

/** Sends a command and waits until the matcher has carried it out; null then. */
export async function carryOut(
  commands: Pick<CommandSender, 'run'>,
  partition: number,
  command: Command,
  done: ExecutionEvent['kind'],
): Promise<OperatorProblem | null> {
  const result = await commands.run(partition, command);
  if (result.kind === 'pending') return notYet('the partition has not answered in time');
  if (result.kind === 'unsent' && result.code === 'partition_not_ready')
    return notYet(`partition ${partition} is not opened: set-up opens it`);
  if (result.kind === 'unsent') return notYet('the command could not be put on the log');
  if (result.kind === 'rejected') return refused('the matcher does not take this operator key');
  for (const { event } of result.events) {
    if (event.kind === done) return null;
    if (event.kind === 'CommandRefused')
      return { ...refused(refusals[event.code].text), code: event.code };
  }
  return refused('the matcher did not carry the command out');
}
