import { rules } from '@pm/schemas/log/log-rules';
import type { SignOffKey } from '../rules/sign-off-keys.ts';
import type { State } from './state.ts';
import { formats, modes, roles, type StateWriter } from './state-bytes.ts';

/** The head of the bytes, and if the partition is opened its settings and keys. */
export function writeFacts(state: State, to: StateWriter): void {
  to.number(state.rules === 0 ? formats.withoutRules : formats.withRules);
  to.number(state.partition);
  to.number(state.opened ? 1 : 0);
  if (state.opened) writeSettings(state, to);
}

function writeSettings(state: State, to: StateWriter): void {
  to.bytes(state.operatorKey as Buffer);
  to.bytes(state.wallets.bytes(state.feeWallet));
  to.number(state.bookAgeLimitMs);
  to.number(state.orderAgeLimitMs);
  to.number(state.timeMs);
  to.number(state.generation);
  to.number(modes.indexOf(state.mode));
  if (state.rules > 0) to.number(state.rules);
  if (state.rules >= rules.witnessedClock) to.number(state.witnessMs);
  if (state.rules >= rules.ownerTerms) {
    to.number(state.term);
    to.bytes(state.owner);
  }
  const keys = state.keys.inOrder();
  to.number(keys.length);
  for (const key of keys) {
    to.bytes(key.publicKey);
    to.number(roles.indexOf(key.role));
    to.number(key.active ? 1 : 0);
    if (state.rules > 0) writeUsed(key, to);
  }
}

function writeUsed({ used }: SignOffKey, to: StateWriter): void {
  to.number(used.floor);
  to.number(used.newest.length);
  for (const sequence of used.newest) to.number(sequence);
}

/** A row per market, by number. */
export function writeMarkets(state: State, to: StateWriter): void {
  const markets = state.markets.inOrder();
  to.number(markets.length);
  for (const market of markets) {
    to.number(market.number);
    to.bytes(market.conditionId);
    to.bytes(market.token0);
    to.bytes(market.token1);
    to.number(market.tick);
    to.number(market.minSizeMicro);
    to.number(market.feeRateBps);
    to.number(modes.indexOf(market.mode));
    to.number(market.takerDelayMs);
    to.number(market.payout0);
    to.number(market.collateralMicro);
  }
}
