import type { Signal } from '@preact/signals';
import { cents, shares } from '../format.ts';
import { openOrders } from '../trade/session.ts';
import { type Book, type LadderRow, ladderOf, type OwnResting } from './ladder.ts';

const rowsShown = 9;

/** The ladder of a token; a click on a price takes it into the ticket. */
export function LadderView(props: {
  readonly book: Signal<Book | null>;
  readonly tokens: readonly [string, string];
  readonly outcome: number;
  readonly isPast: boolean;
  readonly onPrice: (price: string) => void;
}) {
  const book = props.book.value;
  if (book === null) return <p class="quiet pad">Reading the book…</p>;
  const own = props.isPast ? [] : ownIn(props.tokens, props.outcome);
  const ladder = ladderOf(book, own, rowsShown);
  return (
    <div class="ladder" data-testid="ladder">
      <div class="ladder-head">
        <span>Price</span>
        <span>Shares</span>
        <span>Total</span>
      </div>
      <div class="asks">
        {[...ladder.asks].reverse().map((row) => (
          <Row key={row.price} row={row} side="ask" onPrice={props.onPrice} />
        ))}
      </div>
      <div class="mid">
        <strong>{cents(ladder.mid)}</strong>
        <span class="quiet">
          {ladder.spread === null ? 'one-sided' : `spread ${cents(ladder.spread)}`}
        </span>
      </div>
      <div class="bids">
        {ladder.bids.map((row) => (
          <Row key={row.price} row={row} side="bid" onPrice={props.onPrice} />
        ))}
      </div>
      {book.bids.length + book.asks.length === 0 && <p class="quiet pad">No orders rest here.</p>}
    </div>
  );
}

function Row(props: {
  readonly row: LadderRow;
  readonly side: 'bid' | 'ask';
  readonly onPrice: (price: string) => void;
}) {
  const { row, side } = props;
  const mark = row.own > 0 ? `Own: ${shares(row.own)} shares` : undefined;
  return (
    <button
      type="button"
      class={`row ${side}${row.own > 0 ? ' own' : ''}`}
      data-price={Number(row.price)}
      title={mark}
      onClick={() => props.onPrice(row.price)}
    >
      <span class="bar" style={{ transform: `scaleX(${row.depth.toFixed(3)})` }} />
      <span class="price">{cents(row.price)}</span>
      <span>
        {row.own > 0 && <em class="mine">{shares(row.own)}</em>}
        {shares(row.size)}
      </span>
      <span class="quiet">{shares(row.total)}</span>
    </button>
  );
}

/** Open orders of the wallet in terms of this token: a buy of the other token at p is a sell of this one at 1 − p. */
function ownIn(tokens: readonly [string, string], outcome: number): readonly OwnResting[] {
  const token = tokens[outcome];
  return openOrders.value.flatMap(({ asset_id, side, price, original_size, size_matched }) => {
    if (!tokens.includes(asset_id)) return [];
    const size = Number(original_size) - Number(size_matched);
    if (asset_id === token)
      return [{ side: side === 'BUY' ? ('BUY' as const) : ('SELL' as const), price, size }];
    const other = (1 - Number(price)).toFixed(4);
    return [{ side: side === 'BUY' ? ('SELL' as const) : ('BUY' as const), price: other, size }];
  });
}
