import { type Static, Type } from 'typebox';
import { conditionId, orderId, orderName, orNull, text, tokenId } from './forms.ts';
import { orderIdsPerRequestMax } from './private-reading.ts';
import {
  BookLevel,
  BookSnapshot,
  historiesPerRequestMax,
  StoredOrder,
  tokensPerRequestMax,
} from './reading.ts';

/** Bodies of reads that ask for many things at once (conventions.md 5.1, 5.3 and 3.12). */
export const TokenItems = Type.Array(
  Type.Object({
    token_id: tokenId,
    side: Type.Optional(orNull(Type.Enum(['BUY', 'SELL', '']))),
  }),
  { maxItems: tokensPerRequestMax },
);

const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const unixSeconds = Type.Optional(orNull(whole(0, 4_200_000_000)));

export const BatchHistoryBody = Type.Object({
  markets: Type.Array(Type.Union([tokenId, conditionId]), {
    minItems: 1,
    maxItems: historiesPerRequestMax,
    description: 'Token ids; a condition id means its first token.',
  }),
  interval: Type.Optional(
    orNull(Type.Enum(['1m', '5m', '15m', '1h', '6h', '1d', '1w', 'max', 'all'])),
  ),
  start_ts: unixSeconds,
  end_ts: unixSeconds,
  startTs: unixSeconds,
  endTs: unixSeconds,
  fidelity: Type.Optional(orNull(whole(1, 1_000_000))),
});

/** A book, now or past; with `level=3` its entries are orders. */
export const PastBookResponse = Type.Object({
  ...BookSnapshot.properties,
  bids: Type.Array(Type.Object({ ...BookLevel.properties, order: orderName })),
  asks: Type.Array(Type.Object({ ...BookLevel.properties, order: orderName })),
});

/** In either spelling; the first one counts. */
const named = Type.Union([
  Type.Object({ orderId: text }),
  Type.Object({ orderID: text, orderId: Type.Optional(Type.Null()) }),
]);
export const OrderLookUpBody = Type.Array(Type.Union([named, text]), {
  minItems: 1,
  maxItems: orderIdsPerRequestMax,
});

/** An order by id in a list: what it is, or why it cannot be shown. */
export const FoundOrder = Type.Object({
  order_id: text,
  status: Type.Integer({ description: '200, 400 (no order id) or 404.', examples: [200] }),
  order: Type.Optional(StoredOrder.properties.order),
  error: Type.Optional(text),
  code: Type.Optional(
    Type.String({ description: 'Why it was refused, when it was never an order.' }),
  ),
});
export type FoundOrder = Static<typeof FoundOrder>;

export const OrderIds = Type.Array(orderId, { maxItems: orderIdsPerRequestMax });
export const ScoringResponse = Type.Object({ scoring: Type.Boolean() });
export const ScoringByOrder = Type.Record(Type.String(), Type.Boolean());
