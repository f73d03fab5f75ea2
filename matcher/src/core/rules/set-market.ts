import { takerDelayMaxMs } from '@pm/schemas/log/executions';
import type { CommandOf } from '@pm/schemas/log/orders';
import { orderSizeMaxMicro, tickSizes } from '@pm/schemas/money';
import { refuseCommand } from '../events/write-events.ts';
import type { Output } from '../record.ts';
import { copyOf } from '../state/interned.ts';
import type { Market } from '../state/markets.ts';
import type { State } from '../state/state.ts';

/** Lists a market or changes its rules: never its identity, never to a coarser tick, never out of RESOLVED. */
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
  if (!command.tickOnly) changeRules(market, command);
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

function changeRules(market: Market, command: CommandOf<'SetMarket'>): void {
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
  const isNumber = market >= 0 && market <= marketNumberMax;
  const isMin = minSizeMicro >= 0 && minSizeMicro <= orderSizeMaxMicro;
  const isRate = feeRateBps >= 0 && feeRateBps <= feeRateMaxBps;
  const isDelay = takerDelayMs >= 0 && takerDelayMs <= takerDelayMaxMs;
  return isTick && isNumber && isMin && isRate && isDelay && command.mode !== 'RESOLVED';
}

/** The largest 32-bit integer. */
const marketNumberMax = 2 ** 31 - 1;
const feeRateMaxBps = 10_000;

function mayBecome(market: Market, command: CommandOf<'SetMarket'>): boolean {
  const isSame =
    market.conditionId.equals(command.conditionId) &&
    market.token0.equals(command.token0) &&
    market.token1.equals(command.token1);
  return isSame && market.tick % command.tick === 0 && market.mode !== 'RESOLVED';
}
