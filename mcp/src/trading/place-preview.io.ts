import { type Placement, UnresolvedOrdersError } from '@pm/client';
import { microText } from '@pm/schemas/decimal';
import { type Static, Type } from 'typebox';
import { OrderView, orderView } from '../accounts/account-views.ts';
import { orNull } from '../server/forms.ts';
import { refusalOf } from '../server/tool.io.ts';
import { ToolRefusal } from '../server/tool.ts';
import { limitRefusal } from './limits.ts';
import { isSameMeaning, type OrderMeaning } from './order-meaning.ts';
import { isExpired, type Preview } from './previews.ts';
import type { Trader } from './trader.io.ts';

export const PlacedView = Type.Object({
  order_id: Type.String(),
  status: Type.String({
    description:
      '`live`, `matched` or `delayed`: the first result of the order. `canceled`: it was sent before and has left the ' +
      'book since, without a fill at once.',
  }),
  gave: orNull(Type.String({ description: 'At once: USDC of a BUY, shares of a SELL.' })),
  got: orNull(Type.String({ description: 'At once: shares of a BUY, USDC of a SELL.' })),
  trade_ids: Type.Array(Type.String()),
  repeated: Type.Boolean({
    description: 'An earlier call or try had sent it: this is that one order, not another one.',
  }),
  alive: orNull(
    Type.Boolean({ description: 'Of a repeated order: whether it rests or is delayed now.' }),
  ),
  order: orNull(OrderView),
  day_used_usdc: orNull(Type.String({ description: 'Of the limit of the day, with this order.' })),
  day_limit_usdc: Type.String(),
});
type PlacedView = Static<typeof PlacedView>;

/**
 * Places the order of a preview. Everything that the owner limits is checked here again, and the amount is on disk
 * before the order leaves.
 */
export async function placePreview(
  trader: Trader,
  previewId: string,
  meaning: OrderMeaning,
): Promise<PlacedView | ToolRefusal> {
  const preview = trader.previews.find(previewId);
  if (preview === null) {
    return new ToolRefusal('preview_unknown', 'no preview has this id: call preview_order first');
  }
  if (isExpired(preview, trader.nowMs())) {
    return new ToolRefusal(
      'preview_expired',
      'the preview is older than 60 seconds: call preview_order again. If an earlier call with it got no result, ' +
        `get_order shows whether order ${preview.order.orderId} was placed`,
    );
  }
  if (!isSameMeaning(preview.meaning, meaning)) {
    return new ToolRefusal('preview_differs', 'the order differs from the one that was previewed');
  }
  return limitRefusal(trader.limits, preview) ?? (await reserveAndSend(trader, preview));
}

async function reserveAndSend(trader: Trader, preview: Preview): Promise<PlacedView | ToolRefusal> {
  const { orderId } = preview.order;
  // The file knows a preview that was sent before: it counts once, whatever else has been placed since.
  if (!trader.previews.isCounted(preview.id)) {
    const refusal = await trader.spending.reserve(orderId, preview.riskMicro);
    if (refusal !== null) return refusal;
    trader.previews.markCounted(preview.id);
  }
  try {
    const client = await trader.connected();
    const placement = await client.postOrder(await preview.order.sign());
    if (placement.success) return await placedView(trader, placement);
    await trader.spending.release(orderId);
    trader.previews.drop(preview.id);
    return refusedPlacement(placement);
  } catch (error) {
    if (error instanceof UnresolvedOrdersError) return unresolved(orderId);
    return refusalOf(error);
  }
}

/** Where the order was read, it says how far it is: a response was lost, or it has ended since it was sent first. */
async function placedView(trader: Trader, placement: Placement): Promise<PlacedView> {
  const used = await trader.spending.usedMicro();
  const { order } = placement;
  return {
    order_id: placement.orderID,
    status: placement.status,
    gave: placement.makingAmount === '' ? null : placement.makingAmount,
    got: placement.takingAmount === '' ? null : placement.takingAmount,
    trade_ids: [...(placement.tradeIDs ?? [])],
    repeated: placement.repeated === true,
    alive: placement.alive ?? null,
    order: order === undefined ? null : orderView(order),
    day_used_usdc: used instanceof ToolRefusal ? null : microText(used),
    day_limit_usdc: microText(trader.limits.perDayMicro),
  };
}

/** The exchange refused the order: nothing was placed. */
function refusedPlacement({ code = '', errorMsg, retry_after_seconds }: Placement): ToolRefusal {
  return new ToolRefusal(code === '' ? 'internal_error' : code, errorMsg, {
    retryable: retry_after_seconds !== undefined,
    retryAfterSeconds: retry_after_seconds ?? null,
  });
}

function unresolved(orderId: string): ToolRefusal {
  return new ToolRefusal(
    'order_unresolved',
    `the exchange did not say in time whether order ${orderId} was placed: call place_order again with the same ` +
      'preview (it is placed once at most), or get_order',
    { retryable: true },
  );
}
