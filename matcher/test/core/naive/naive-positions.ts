import type { CommandOf } from '@pm/schemas/log/orders';
import { orderSizeMaxMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import { cost, hex, type Listed, lot, NaiveReport, other } from './naive-report.ts';

/** The tokens of the naive twin: split, merge, redeem, and what each wallet has. */
export class NaivePositions extends NaiveReport {
  clock = 0;
  /** Time-to-book limit of the partition, milliseconds. */
  protected ageLimit = 0;
  generation = 0;
  readonly tokens = new Map<string, number>();
  protected requests = new Map<string, number>();

  /** Whether the memory of all ids is full; never here, where the orders are not known. */
  protected isMemoryFull(): boolean {
    return false;
  }

  protected split(command: CommandOf<'SplitPosition'>): undefined {
    const size = command.sizeMicro;
    const market = this.markets.get(command.market);
    if (!market) return this.refuseMove(command, 'market_not_found');
    if (this.requests.has(hex(command.requestId))) return this.refuseMove(command, 'already_done');
    if (this.isMemoryFull()) return this.refuseMove(command, 'overloaded');
    const age = Math.abs(command.acceptedAtMs - this.clock);
    if (command.acceptedAtMs && age > this.ageLimit) return this.refuseMove(command, 'too_late');
    if (command.generation < this.generation) return this.refuseMove(command, 'old_generation');
    if (market.mode === 'RESOLVED') return this.refuseMove(command, 'market_resolved');
    if (!isWhole(size)) return this.refuseMove(command, 'invalid_amounts');
    if (command.holdMicro < size)
      return this.refuseMove(command, 'insufficient_balance_or_allowance');
    this.movePosition(command, market, { action: 'SPLIT', tokens: [size, size], paid: -size });
  }

  protected merge(command: CommandOf<'MergePosition'>): undefined {
    const size = command.sizeMicro;
    const market = this.markets.get(command.market);
    if (!market) return this.refuseMove(command, 'market_not_found');
    if (this.requests.has(hex(command.requestId))) return this.refuseMove(command, 'already_done');
    if (this.isMemoryFull()) return this.refuseMove(command, 'overloaded');
    if (!isWhole(size)) return this.refuseMove(command, 'invalid_amounts');
    const free = [0, 1].map((token) => this.freeTokens(command.wallet, command.market, token));
    if (Math.min(...free) < size) return this.refuseMove(command, 'insufficient_position');
    this.movePosition(command, market, { action: 'MERGE', tokens: [-size, -size], paid: size });
  }

  protected redeem(command: CommandOf<'RedeemPosition'>): undefined {
    const market = this.markets.get(command.market);
    if (!market) return this.refuseMove(command, 'market_not_found');
    if (this.requests.has(hex(command.requestId))) return this.refuseMove(command, 'already_done');
    if (this.isMemoryFull()) return this.refuseMove(command, 'overloaded');
    if (market.mode !== 'RESOLVED') return this.refuseMove(command, 'market_not_resolved');
    const [a, b] = [0, 1].map((token) => this.allTokens(command.wallet, command.market, token));
    if (!a && !b) return this.refuseMove(command, 'insufficient_position');
    const paid = cost(market.payout0, a ?? 0) + cost(other(market.payout0), b ?? 0);
    this.movePosition(command, market, {
      action: 'REDEEM',
      tokens: [0 - (a ?? 0), 0 - (b ?? 0)],
      paid,
    });
  }

  private refuseMove({ requestId }: { requestId: Buffer }, code: RefusalCode): undefined {
    this.refuseCommand(code, requestId);
  }

  private movePosition(
    command: { wallet: Buffer; market: number; requestId: Buffer },
    listed: Listed,
    move: { action: 'SPLIT' | 'MERGE' | 'REDEEM'; tokens: [number, number]; paid: number },
  ): undefined {
    const { wallet, market } = command;
    this.requests.set(hex(command.requestId), this.clock);
    for (const token of [0, 1]) this.addTokens(wallet, market, token, move.tokens[token] ?? 0);
    listed.collateral -= move.paid;
    this.move(wallet, move.paid, 0);
    const [token0Micro, token1Micro] = move.tokens;
    const sums = { action: move.action, token0Micro, token1Micro, paidMicro: move.paid };
    const { requestId } = command;
    this.emit({ kind: 'PositionMoved', command: this.command, wallet, market, ...sums, requestId });
  }

  protected addTokens(wallet: Buffer, market: number, outcome: number, change: number): undefined {
    const key = `${hex(wallet)}/${market}/${outcome}`;
    this.tokens.set(key, (this.tokens.get(key) ?? 0) + change);
  }

  protected freeTokens(wallet: Buffer, market: number, outcome: number): number {
    const locked = this.resting
      .filter(({ order }) => order.side === 'SELL' && order.maker.equals(wallet))
      .filter(({ order }) => order.market === market && order.outcome === outcome)
      .reduce((sum, one) => sum + one.left, 0);
    const delayed = this.waiting
      .filter(({ order }) => order.side === 'SELL' && order.maker.equals(wallet))
      .filter(({ order }) => order.market === market && order.outcome === outcome)
      .reduce((sum, { order }) => sum + order.sizeMicro, 0);
    return this.allTokens(wallet, market, outcome) - locked - delayed;
  }

  private allTokens(wallet: Buffer, market: number, outcome: number): number {
    return this.tokens.get(`${hex(wallet)}/${market}/${outcome}`) ?? 0;
  }
}

export function isWhole(size: number): boolean {
  return size > 0 && size <= orderSizeMaxMicro && size % lot === 0;
}
