import { Type } from 'typebox';
import { conditionId, rowLimit, side, tokenId, unixSeconds, wallet } from '../server/forms.ts';
import { type Tool, tool } from '../server/tool.io.ts';
import { declareTool, reading, ToolRefusal } from '../server/tool.ts';
import {
  BookView,
  bookView,
  HistoryView,
  historyPointsMax,
  historyView,
  TradeView,
  tradeView,
} from './price-views.ts';

const depthMax = 100;
const depthDefault = 20;
const tradesMax = 100;
const tradesDefault = 20;

const getBook = declareTool({
  name: 'get_book',
  title: 'Read a book',
  description:
    'Bids and asks of a token, best first; with `at` the book as it was at that moment (after the last record whose ' +
    'clock is not past it).',
  annotations: reading,
  input: Type.Object({
    token_id: tokenId,
    at: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        description: 'A past moment: ISO 8601 ("2026-06-01T11:00:00Z") or Unix milliseconds.',
      }),
    ),
    depth: Type.Optional(
      Type.Integer({ minimum: 1, maximum: depthMax, description: 'Levels; 20 by default.' }),
    ),
  }),
  output: BookView,
});

const getPriceHistory = declareTool({
  name: 'get_price_history',
  title: 'Read a price history',
  description: `Midpoints of a token over time, at most the newest ${historyPointsMax} of the range.`,
  annotations: reading,
  input: Type.Object({
    token_id: tokenId,
    interval: Type.Optional(
      Type.Enum(['1h', '6h', '1d', '1w', '1m', 'max'], {
        description: 'Look-back, `1d` by default; `1m` is a month. Not together with `start`.',
      }),
    ),
    start: Type.Optional(unixSeconds),
    end: Type.Optional(unixSeconds),
    bucket_minutes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Width of a bucket.' }),
    ),
  }),
  output: HistoryView,
});

const getTrades = declareTool({
  name: 'get_trades',
  title: 'Read trades',
  description:
    'Trades of a market, of a wallet, or of all, newest first, from the side of the taker.',
  annotations: reading,
  input: Type.Object({
    market: Type.Optional(conditionId),
    wallet: Type.Optional(wallet),
    side: Type.Optional(side),
    start: Type.Optional(unixSeconds),
    end: Type.Optional(unixSeconds),
    limit: rowLimit(tradesMax, tradesDefault),
  }),
  output: Type.Object({ trades: Type.Array(TradeView) }),
});

/** Tools that read books, prices and trades. */
export const priceTools: readonly Tool[] = [
  tool(getBook, async ({ token_id, at, depth = depthDefault }, { exchange }) => {
    const query = { token_id, ...(at === undefined ? {} : { at }) };
    return bookView(await exchange.get('getBook', { query }), depth);
  }),
  tool(getPriceHistory, async (input, { exchange }) => {
    const { token_id: market, start, end, bucket_minutes: fidelity } = input;
    if (start !== undefined && input.interval !== undefined) {
      return new ToolRefusal('invalid_input', '`interval` and `start` exclude each other');
    }
    if (start === undefined && end !== undefined) {
      return new ToolRefusal('invalid_input', '`end` needs `start`');
    }
    const history = await exchange.get('getPricesHistory', {
      query: {
        market,
        ...(start === undefined
          ? { interval: input.interval ?? '1d' }
          : { startTs: String(start) }),
        ...(end === undefined ? {} : { endTs: String(end) }),
        ...(fidelity === undefined ? {} : { fidelity: String(fidelity) }),
      },
    });
    return historyView(market, history);
  }),
  tool(getTrades, async ({ limit = tradesDefault, ...filter }, { exchange }) => {
    const trades = await exchange.getMounted('listTrades', {
      query: {
        limit: String(limit),
        ...(filter.market === undefined ? {} : { market: [filter.market] }),
        ...(filter.wallet === undefined ? {} : { user: filter.wallet }),
        ...(filter.side === undefined ? {} : { side: filter.side }),
        ...(filter.start === undefined ? {} : { start: String(filter.start) }),
        ...(filter.end === undefined ? {} : { end: String(filter.end) }),
      },
    });
    return { trades: trades.map(tradeView) };
  }),
];
