import type { Signal } from '@preact/signals';
import { cents, clock, shares } from '../format.ts';
import type { TapeTrade } from '../live/follow.ts';

const rowsShown = 24;

/** The newest trades of a market. */
export function TapeView(props: {
  readonly tape: Signal<readonly TapeTrade[]>;
  readonly outcomes: readonly [string, string];
}) {
  const trades = props.tape.value.slice(0, rowsShown);
  if (trades.length === 0) return <p class="quiet pad">No trades yet.</p>;
  return (
    <div class="tape" data-testid="tape">
      {trades.map((trade) => (
        <div key={trade.id} class={`tape-row ${trade.side === 'BUY' ? 'up' : 'down'}`}>
          <span class="quiet">{clock(trade.timeSeconds)}</span>
          <span class="price">{cents(trade.price)}</span>
          <span>{shares(trade.size)}</span>
          <span class="quiet">
            {trade.side === 'BUY' ? 'buy' : 'sell'} {props.outcomes[trade.outcome]}
          </span>
        </div>
      ))}
    </div>
  );
}
