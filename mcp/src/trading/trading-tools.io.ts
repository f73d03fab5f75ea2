import type { CancelAllResult } from '@pm/client';
import type { BookSnapshot } from '@pm/schemas/http/reading';
import type { CancelResult } from '@pm/schemas/http/trading';
import { Type } from 'typebox';
import { readMarket } from '../markets/market-tools.io.ts';
import { conditionId, orderId } from '../server/forms.ts';
import type { Session } from '../server/session.io.ts';
import { type Tool, tool } from '../server/tool.io.ts';
import { changing, declareTool, reading, ToolRefusal } from '../server/tool.ts';
import { dayRefusal, limitRefusal } from './limits.ts';
import { type OrderMeaning, orderFields, readMeaning, riskMicro } from './order-meaning.ts';
import { PlacedView, placePreview } from './place-preview.io.ts';
import {
  exchangeCheck,
  marketChecks,
  ownerCheck,
  type PreviewFacts,
  PreviewView,
  previewView,
  uncheckedBeyondLimits,
  uncheckedWithoutKey,
} from './preview-view.ts';
import { type Preview, previewLifeMs } from './previews.ts';
import type { Trader } from './trader.io.ts';
import { walkBook } from './walk-book.ts';

const cancelsMax = 500;

const previewOrder = declareTool({
  name: 'preview_order',
  title: 'Preview an order',
  description:
    'What an order would do, without placing it: the fills it would get from the book, cost, fee, and every check. ' +
    'Its preview id is what `place_order` needs. Show the preview to the user before you place it. Signs nothing.',
  annotations: reading,
  input: Type.Object(orderFields),
  output: PreviewView,
});

const placeOrder = declareTool({
  name: 'place_order',
  title: 'Place an order',
  description:
    'Places the order of a preview that is younger than 60 seconds; the fields repeat it and have to mean the same. ' +
    'Spends money. The same preview is placed once, however often this is called. Works on a stdio server with a ' +
    'wallet key, within the limits of its owner.',
  annotations: changing,
  input: Type.Object({
    preview_id: Type.String({ minLength: 1, maxLength: 64 }),
    ...orderFields,
  }),
  output: PlacedView,
});

const cancelOrders = declareTool({
  name: 'cancel_orders',
  title: 'Cancel orders',
  description:
    'Cancels own orders: those of `order_ids`, all of one market, or all of the wallet, placed here or elsewhere. Give ' +
    'exactly one of the three. With `market` or `all` it names in `in_transit` the orders that were on their way: look ' +
    'at each before you call the wallet free of orders.',
  annotations: changing,
  input: Type.Object({
    order_ids: Type.Optional(Type.Array(orderId, { minItems: 1, maxItems: cancelsMax })),
    market: Type.Optional(conditionId),
    all: Type.Optional(Type.Literal(true)),
  }),
  output: Type.Object({
    canceled: Type.Array(Type.String()),
    not_canceled: Type.Array(
      Type.Object({
        order_id: Type.String(),
        code: Type.Optional(Type.String()),
        reason: Type.String(),
      }),
    ),
    in_transit: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'With `market` or `all`: orders that this server sent before and of which it had no definite result by then. ' +
          'Each was canceled by its id too, so one that reaches the exchange within 2 seconds is refused as `fenced`; ' +
          'after that it is booked. The call of `place_order` that placed each says what became of it, and so does ' +
          '`get_order`.',
      }),
    ),
    complete: Type.Optional(
      Type.Boolean({
        description:
          'With `market` or `all`; false: a response was lost, so more orders may be canceled than `canceled` names.',
      }),
    ),
  }),
});

/** Tools about orders of the own wallet. */
export const tradingTools: readonly Tool[] = [
  tool(previewOrder, async (input, session) => {
    const meaning = readMeaning(input);
    return meaning instanceof ToolRefusal ? meaning : await preview(meaning, session);
  }),
  tool(placeOrder, async ({ preview_id, ...fields }, session) => {
    if (session.trader === null) return noTrading(session);
    const meaning = readMeaning(fields);
    if (meaning instanceof ToolRefusal) return meaning;
    return await placePreview(session.trader, preview_id, meaning);
  }),
  tool(cancelOrders, async ({ order_ids, market, all }, session) => {
    if (session.trader === null) return noTrading(session);
    if ([order_ids, market, all].filter((one) => one !== undefined).length !== 1) {
      return new ToolRefusal('invalid_input', 'give exactly one of `order_ids`, `market` or `all`');
    }
    const client = await session.trader.connected();
    const result: CancelResult & Partial<CancelAllResult> =
      order_ids !== undefined
        ? await client.cancelOrders(order_ids)
        : await (market === undefined ? client.cancelAll() : client.cancelMarketOrders({ market }));
    const { canceled, not_canceled, not_canceled_codes = {} } = result;
    const { in_transit, complete } = result;
    const left = Object.entries(not_canceled);
    return {
      canceled,
      not_canceled: left.map(([order_id, reason]) => {
        const code = not_canceled_codes[order_id];
        return { order_id, ...(code === undefined ? {} : { code }), reason };
      }),
      ...(in_transit === undefined ? {} : { in_transit: [...in_transit] }),
      ...(complete === undefined ? {} : { complete }),
    };
  }),
];

function noTrading({ noTrading: code }: Session): ToolRefusal {
  const message =
    code === 'trading_not_here'
      ? 'this server only reads: trading needs the stdio server with a wallet key (docs/trading/agents.md)'
      : 'trading is off: the owner has to give the server a wallet key, a limit an order, a limit a day and a list of ' +
        'markets (docs/trading/agents.md)';
  return new ToolRefusal(code, message);
}

async function preview(meaning: OrderMeaning, { exchange, trader }: Session) {
  const { tokenId: token_id } = meaning;
  const market = await readMarket(exchange, token_id);
  if (market instanceof ToolRefusal) return market;
  const book = (await exchange.get('getBook', { query: { token_id } })) as BookSnapshot;
  const walk = walkBook(meaning, book, market.taker_fee_rate_bps);
  const mostMicro = riskMicro(meaning, market.taker_fee_rate_bps);
  const facts = { meaning, conditionId: market.condition_id, riskMicro: mostMicro };
  const checked =
    trader === null
      ? { checks: [uncheckedWithoutKey], preview: null }
      : await checkForOwner(trader, facts);
  return previewView({
    meaning,
    market,
    walk,
    riskMicro: mostMicro,
    bookTime: new Date(Number(book.timestamp)).toISOString(),
    checks: [...marketChecks(meaning, market, walk.expected), ...checked.checks],
    preview: checked.preview,
  });
}

/**
 * Compares an order with the limits of the owner, and has the exchange validate it, unsigned, where they allow it. An
 * order beyond them is in no request.
 */
async function checkForOwner(
  trader: Trader,
  facts: Pick<Preview, 'meaning' | 'conditionId' | 'riskMicro'>,
): Promise<Pick<PreviewFacts, 'checks' | 'preview'>> {
  const usedMicro = await trader.spending.usedMicro();
  const day =
    usedMicro instanceof ToolRefusal
      ? usedMicro
      : dayRefusal(trader.limits, { usedMicro, riskMicro: facts.riskMicro });
  const ofOwner = [
    ownerCheck('owner_allows_order', limitRefusal(trader.limits, facts)),
    ownerCheck('owner_allows_day', day),
  ];
  if (ofOwner.some(({ ok }) => ok === false))
    return { checks: [...ofOwner, uncheckedBeyondLimits], preview: null };
  const draft = await trader.draft(facts.meaning);
  const finding = await trader.validate(draft);
  const { id } = trader.remember(draft, facts);
  const expiresAt = new Date(Date.now() + previewLifeMs).toISOString();
  return { checks: [...ofOwner, exchangeCheck(finding)], preview: { id, expiresAt } };
}
