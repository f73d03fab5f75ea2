import {
  type CommandOf,
  orderSizeMaxMicro,
  priceOne,
  type RefusalCode,
  takerDelayMaxMs,
  tickSizes,
} from '@pm/schemas';
import { copyOf } from './interned.ts';
import type { Market } from './markets.ts';
import { releaseDue } from './release-orders.ts';
import type { Output, State } from './state.ts';
import { expireDue, sweepMarket } from './sweep.ts';

/** Commands of the owner and the operator: clock, keys, markets, generations. Refused ones change nothing. */
export function refuseCommand(code: RefusalCode, out: Output): void {
  out.events.push({ kind: 'CommandRefused', command: out.command, code, requestId: null });
}

/** What all markets take at most; RESOLVED is of single markets. */
export function setTradingMode(
  state: State,
  { mode }: CommandOf<'SetTradingMode'>,
  out: Output,
): void {
  if (mode === 'RESOLVED') {
    refuseCommand('invalid_payload', out);
    return;
  }
  state.mode = mode;
  out.events.push({ kind: 'TradingModeSet', command: out.command, mode });
}

/** The first command of a partition, and only that; its key is the operator's. */
export function openPartition(
  state: State,
  command: CommandOf<'OpenPartition'>,
  out: Output,
): void {
  if (state.opened) {
    refuseCommand('duplicate', out);
    return;
  }
  const isRight =
    command.partition === state.partition &&
    command.bookAgeLimitMs > 0 &&
    command.orderAgeLimitMs > 0 &&
    command.timeMs >= 0;
  if (!isRight) {
    refuseCommand('invalid_payload', out);
    return;
  }
  state.opened = true;
  state.operatorKey = copyOf(command.operatorKey);
  state.feeWallet = state.wallets.intern(command.feeWallet);
  state.wallets.hold(state.feeWallet);
  state.bookAgeLimitMs = command.bookAgeLimitMs;
  state.orderAgeLimitMs = command.orderAgeLimitMs;
  state.timeMs = command.timeMs;
  announceKey(state, { publicKey: state.operatorKey, role: 'OPERATOR', active: true }, out);
}

/** There is one operator, whose key neither changes nor retires. */
export function setKey(state: State, command: CommandOf<'SetKey'>, out: Output): void {
  const isOperator = state.operatorKey?.equals(command.publicKey) ?? false;
  if (isOperator || command.role === 'OPERATOR') {
    refuseCommand('invalid_payload', out);
    return;
  }
  announceKey(state, command, out);
}

function announceKey(
  state: State,
  key: Pick<CommandOf<'SetKey'>, 'publicKey' | 'role' | 'active'>,
  out: Output,
): void {
  const { role, active } = key;
  const keyId = state.keys.set(key.publicKey, role, active);
  if (keyId === null) {
    refuseCommand('invalid_payload', out);
    return;
  }
  out.events.push({ kind: 'KeySet', command: out.command, keyId, role, active });
}

/** Moves the clock, expires and releases what is due by then; what is beyond the budgets goes with later records. */
export function tick(state: State, command: CommandOf<'Tick'>, out: Output): void {
  state.moveClock(command.timeMs);
  expireDue(state, out);
  releaseDue(state, out);
}

export function startGeneration(
  state: State,
  command: CommandOf<'StartGeneration'>,
  out: Output,
): void {
  const { generation } = command;
  if (generation <= state.generation || generation > int32Max) {
    refuseCommand('invalid_payload', out);
    return;
  }
  state.generation = generation;
  out.events.push({ kind: 'GenerationStarted', command: out.command, generation });
}

/** Lists a market or changes its rules: never its identity, never a coarser tick, never out of RESOLVED. */
export function setMarket(state: State, command: CommandOf<'SetMarket'>, out: Output): void {
  const known = state.markets.find(command.market);
  if (!isSound(command) || (known !== undefined && !mayBecome(known, command))) {
    refuseCommand('invalid_payload', out);
    return;
  }
  if (command.tickOnly && known === undefined) {
    refuseCommand('market_not_found', out);
    return;
  }
  const market = known ?? list(state, command);
  if (market.tick !== command.tick) state.book.refine(market.slot, command.tick);
  market.tick = command.tick;
  if (!command.tickOnly) takeRules(market, command);
  const { number, conditionId, minSizeMicro, feeRateBps, mode, takerDelayMs } = market;
  out.events.push({
    kind: 'MarketSet',
    command: out.command,
    market: number,
    conditionId,
    tick: market.tick,
    minSizeMicro,
    feeRateBps,
    mode,
    takerDelayMs,
  });
}

function takeRules(market: Market, command: CommandOf<'SetMarket'>): void {
  market.minSizeMicro = command.minSizeMicro;
  market.feeRateBps = command.feeRateBps;
  market.mode = command.mode;
  market.takerDelayMs = command.takerDelayMs;
}

function list(state: State, command: CommandOf<'SetMarket'>): Market {
  const market: Market = {
    number: command.market,
    slot: state.book.addMarket(command.tick),
    conditionId: copyOf(command.conditionId),
    token0: copyOf(command.token0),
    token1: copyOf(command.token1),
    tick: command.tick,
    minSizeMicro: command.minSizeMicro,
    feeRateBps: command.feeRateBps,
    mode: command.mode,
    takerDelayMs: command.takerDelayMs,
    payout0: 0,
    collateralMicro: 0,
  };
  state.markets.add(market);
  return market;
}

function isSound(command: CommandOf<'SetMarket'>): boolean {
  const { market, minSizeMicro, feeRateBps, takerDelayMs } = command;
  const isTick = (tickSizes as readonly number[]).includes(command.tick);
  const isNumber = market >= 0 && market <= int32Max;
  const isMin = minSizeMicro >= 0 && minSizeMicro <= orderSizeMaxMicro;
  const isRate = feeRateBps >= 0 && feeRateBps <= feeRateMaxBps;
  const isDelay = takerDelayMs >= 0 && takerDelayMs <= takerDelayMaxMs;
  return isTick && isNumber && isMin && isRate && isDelay && command.mode !== 'RESOLVED';
}

function mayBecome(market: Market, command: CommandOf<'SetMarket'>): boolean {
  const isSame =
    market.conditionId.equals(command.conditionId) &&
    market.token0.equals(command.token0) &&
    market.token1.equals(command.token1);
  return isSame && market.tick % command.tick === 0 && market.mode !== 'RESOLVED';
}

/**
 * Ends trading and fixes what each token pays, at once. What rests is canceled, what is delayed is refused; orders beyond
 * the record's budgets go with the next records, and until then keep what they hold and lock.
 */
export function resolveMarket(
  state: State,
  command: CommandOf<'ResolveMarket'>,
  out: Output,
): void {
  const market = state.markets.find(command.market);
  const { payout0 } = command;
  if (market === undefined) {
    refuseCommand('market_not_found', out);
    return;
  }
  if (market.mode === 'RESOLVED') {
    refuseCommand('market_resolved', out);
    return;
  }
  if (payout0 < 0 || payout0 > priceOne) {
    refuseCommand('invalid_payload', out);
    return;
  }
  market.mode = 'RESOLVED';
  market.payout0 = payout0;
  if (!sweepMarket(state, market, out)) state.markets.leaveUnswept(market);
  out.events.push({
    kind: 'MarketResolved',
    command: out.command,
    market: market.number,
    payout0,
  });
}

const int32Max = 2 ** 31 - 1;
const feeRateMaxBps = 10_000;
