import type { CommandOf } from '@pm/schemas/log/orders';
import { complementPrice, lotMicro, notionalMicro, orderSizeMaxMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { Output } from '../record.ts';
import type { Market } from '../state/markets.ts';
import type { State } from '../state/state.ts';

type Moving = CommandOf<'SplitPosition'> | CommandOf<'MergePosition'> | CommandOf<'RedeemPosition'>;

/**
 * Tokens that are created and destroyed other than by fills.
 *
 * Promises: a split takes 1 USDC for each pair, a merge gives it back, a redemption pays every token its payout, those
 * included that sells of the resolved market still lock (their cancel then unlocks nothing); the collateral moves by
 * exactly that. A request that was applied is remembered like an order id, from the clock at that time on, and is not
 * applied twice. Every result names the request.
 */
export function movePosition(state: State, command: Moving, out: Output): void {
  const market = state.markets.find(command.market);
  if (market === undefined) {
    refuse(command, 'market_not_found', out);
    return;
  }
  if (state.requestMemory.find(command.requestId) !== -1) {
    refuse(command, 'already_done', out);
    return;
  }
  if (state.isMemoryFull(out.limits.rememberedIds)) {
    refuse(command, 'overloaded', out);
    return;
  }
  const wallet = state.wallets.find(command.wallet);
  const position = state.positions.find(wallet, market.slot);
  const refusal = check(state, market, command, position);
  if (refusal !== null) {
    refuse(command, refusal, out);
    return;
  }
  state.requestMemory.add(state.timeMs);
  apply(state, market, command, out);
}

function refuse({ requestId }: Moving, code: RefusalCode, out: Output): void {
  out.events.push({ kind: 'CommandRefused', command: out.command, code, requestId });
}

function check(
  state: State,
  market: Market,
  command: Moving,
  position: number,
): RefusalCode | null {
  const { positions } = state;
  if (command.kind === 'SplitPosition') return checkSplit(state, market, command);
  if (command.kind === 'MergePosition') {
    if (!isSize(command.sizeMicro)) return 'invalid_amounts';
    const free = Math.min(positions.freeMicro(position, 0), positions.freeMicro(position, 1));
    return free < command.sizeMicro ? 'insufficient_position' : null;
  }
  if (market.mode !== 'RESOLVED') return 'market_not_resolved';
  if (position === -1) return 'insufficient_position';
  const total = positions.totalMicro(position, 0) + positions.totalMicro(position, 1);
  return total === 0 ? 'insufficient_position' : null;
}

function checkSplit(
  state: State,
  market: Market,
  command: CommandOf<'SplitPosition'>,
): RefusalCode | null {
  const { sizeMicro } = command;
  if (isLate(state, command.acceptedAtMs)) return 'too_late';
  if (command.generation < state.generation) return 'old_generation';
  if (market.mode === 'RESOLVED') return 'market_resolved';
  if (!isSize(sizeMicro)) return 'invalid_amounts';
  if (market.collateralMicro + sizeMicro > collateralMaxMicro) return 'invalid_amounts';
  return command.holdMicro < sizeMicro ? 'insufficient_balance_or_allowance' : null;
}

/** Whether its reservation may have been released already, like that of an order that never reached the log. */
function isLate(state: State, acceptedAtMs: number): boolean {
  return acceptedAtMs !== 0 && Math.abs(acceptedAtMs - state.timeMs) > state.bookAgeLimitMs;
}

/** Half of the safe integers, so that fills have the other half. */
const collateralMaxMicro = Math.floor(Number.MAX_SAFE_INTEGER / 2);

function isSize(sizeMicro: number): boolean {
  return sizeMicro > 0 && sizeMicro <= orderSizeMaxMicro && sizeMicro % lotMicro === 0;
}

/** Changes of a wallet, in micro-shares and micro-USDC. */
interface Move {
  readonly token0: number;
  readonly token1: number;
  readonly paid: number;
}

function apply(state: State, market: Market, command: Moving, out: Output): void {
  const wallet = state.wallets.intern(command.wallet);
  const position = state.positions.open(wallet, market.slot);
  if (command.kind === 'RedeemPosition') unlockAll(state, position);
  const move = moveOf(state, market, command, position);
  state.positions.addTokens(position, 0, move.token0);
  state.positions.addTokens(position, 1, move.token1);
  state.positions.close(position);
  state.wallets.move(wallet, move.paid, 0);
  market.collateralMicro -= move.paid;
  out.events.push({
    kind: 'PositionMoved',
    command: out.command,
    action: actions[command.kind],
    wallet: command.wallet,
    market: market.number,
    token0Micro: move.token0,
    token1Micro: move.token1,
    paidMicro: move.paid,
    requestId: command.requestId,
  });
}

function unlockAll({ positions }: State, position: number): void {
  for (const outcome of [0, 1]) {
    positions.addLocked(position, outcome, -positions.lockedMicro(position, outcome));
  }
}

const actions = {
  SplitPosition: 'SPLIT',
  MergePosition: 'MERGE',
  RedeemPosition: 'REDEEM',
} as const;

function moveOf(state: State, market: Market, command: Moving, position: number): Move {
  if (command.kind === 'SplitPosition') {
    return { token0: command.sizeMicro, token1: command.sizeMicro, paid: -command.sizeMicro };
  }
  if (command.kind === 'MergePosition') {
    return { token0: -command.sizeMicro, token1: -command.sizeMicro, paid: command.sizeMicro };
  }
  const token0 = state.positions.totalMicro(position, 0);
  const token1 = state.positions.totalMicro(position, 1);
  const paid =
    notionalMicro(market.payout0, token0) + notionalMicro(complementPrice(market.payout0), token1);
  return { token0: token0 === 0 ? 0 : -token0, token1: token1 === 0 ? 0 : -token1, paid };
}
