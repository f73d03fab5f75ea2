import type { ExchangeClient } from '@pm/client';
import { Type } from 'typebox';
import { type Tool, tool } from '../server/tool.io.ts';
import { declareTool, reading, ToolRefusal } from '../server/tool.ts';
import { FoundEvent, foundEvent, isBookMarket, MarketView, marketView } from './market-view.ts';

const searchRowsMax = 20;
const searchRows = 5;

const searchMarkets = declareTool({
  name: 'search_markets',
  title: 'Search markets',
  description:
    'Finds events by words in their titles, with their markets, outcomes, token ids and displayed prices. Start here: ' +
    'other tools take the condition id or token id found by this one.',
  annotations: reading,
  input: Type.Object({
    query: Type.String({ minLength: 1, maxLength: 200, description: 'Words.' }),
    status: Type.Optional(
      Type.Enum(['active', 'closed', 'resolved'], { description: 'All without it.' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: searchRowsMax, description: 'Events; 5 by default.' }),
    ),
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  }),
  output: Type.Object({
    events: Type.Array(FoundEvent),
    total: Type.Integer({ minimum: 0, description: 'Events that match.' }),
    has_more: Type.Boolean(),
  }),
});

const getMarket = declareTool({
  name: 'get_market',
  title: 'Read a market',
  description:
    'One market with its rules (tick, smallest size, fee rate, delay), status, outcomes and displayed prices.',
  annotations: reading,
  input: Type.Object({
    market: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Condition id, token id, or slug of the market.',
    }),
  }),
  output: MarketView,
});

/** Tools that find and describe markets. */
export const marketTools: readonly Tool[] = [
  tool(searchMarkets, async ({ query, status, limit = searchRows, page = 1 }, { exchange }) => {
    const found = await exchange.getMounted('search', {
      query: {
        q: query,
        limit_per_type: String(limit),
        page: String(page),
        search_tags: 'false',
        ...(status === undefined ? {} : { events_status: status }),
      },
    });
    return {
      events: found.events.map(foundEvent),
      total: found.pagination.totalResults,
      has_more: found.pagination.hasMore,
    };
  }),
  tool(getMarket, ({ market }, { exchange }) => readMarket(exchange, market)),
];

/** A market by condition id, token id or slug. Throws `ExchangeError` 404 where there is none. */
export async function readMarket(
  exchange: ExchangeClient,
  name: string,
): Promise<MarketView | ToolRefusal> {
  const market = await exchange.get('getMarket', {
    params: { id: await conditionOf(exchange, name) },
  });
  if (isBookMarket(market)) return marketView(market);
  return new ToolRefusal('not_found', 'there is no market with this condition id');
}

async function conditionOf(exchange: ExchangeClient, name: string): Promise<string> {
  if (/^0x[0-9a-fA-F]{64}$/.test(name)) return name.toLowerCase();
  // Numbers of markets are short; token ids are not.
  if (/^\d{20,78}$/.test(name)) {
    const found = await exchange.get('getMarketOfToken', { params: { token_id: name } });
    return found.condition_id;
  }
  const found = await exchange.get('getMarketBySlug', { params: { slug: name } });
  return found.conditionId;
}
