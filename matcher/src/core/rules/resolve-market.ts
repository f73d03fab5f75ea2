import type { CommandOf } from '@pm/schemas/log/orders';
import { priceOne } from '@pm/schemas/money';
import { refuseCommand } from '../events/write-events.ts';
import { clearMarket } from '../orders/expire-orders.ts';
import type { Output } from '../record.ts';
import type { State } from '../state/state.ts';

/**
 * Ends trading and fixes the payout of each token, at once. Resting orders are canceled, delayed ones refused; those
 * beyond the record's budgets follow with the next records, and until then hold their money and lock their tokens.
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
  if (!clearMarket(state, market, out)) state.markets.addUncleared(market);
  out.events.push({
    kind: 'MarketResolved',
    command: out.command,
    market: market.number,
    payout0,
  });
}
