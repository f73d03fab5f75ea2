import { Type } from 'typebox';
import {
  CatalogTagResponse,
  EventListItem,
  EventResponse,
  FamilyEventListItem,
  FamilyMarket,
  FamilyMarketResponse,
  familyEventFields,
  MarketResponse,
} from './catalog.ts';
import { SearchResponse, SeriesWithEvents } from './catalog-lists.ts';
import { count, dateTime, flag, text } from './forms.ts';

/** Lists of the catalog and their wrappers (specification; conventions.md 5.6, 5.7). */
const nextCursor = Type.Optional(
  Type.String({ minLength: 1, description: 'Missing on the last page.' }),
);
const pagination = Type.Object({ hasMore: flag, totalResults: count });

export const EventList = Type.Array(EventListItem);
export const FamilyEventList = Type.Array(FamilyEventListItem);
export const EventPage = Type.Object({ events: EventList, next_cursor: nextCursor });
export const FamilyEventPage = Type.Object({ events: FamilyEventList, next_cursor: nextCursor });
export const EventPagination = Type.Object({ data: EventList, pagination });
export const FamilyEventPagination = Type.Object({ data: FamilyEventList, pagination });
/** One event under `/gamma`: with full markets and figures. */
export const FamilyEventResponse = Type.Object({
  ...EventResponse.properties,
  markets: Type.Array(FamilyMarket),
  ...familyEventFields,
});

export const MarketList = Type.Array(MarketResponse);
export const FamilyMarketList = Type.Array(FamilyMarketResponse);
export const MarketPage = Type.Object({ markets: MarketList, next_cursor: nextCursor });
export const FamilyMarketPage = Type.Object({ markets: FamilyMarketList, next_cursor: nextCursor });
const wrapper = { limit: count, offset: count, count };
export const AgentMarkets = Type.Object({ data: MarketList, ...wrapper });
export const FamilyAgentMarkets = Type.Object({ data: FamilyMarketList, ...wrapper });
export const MarketDescription = Type.Object({ description: text });

export const Creator = Type.Object({
  id: text,
  creatorName: text,
  creatorHandle: text,
  creatorUrl: text,
  creatorImage: text,
  createdAt: dateTime,
  updatedAt: dateTime,
});
export const CreatorList = Type.Array(Creator);

export const TagList = Type.Array(CatalogTagResponse);
export const RelatedTags = Type.Array(
  Type.Object({
    id: Type.String({ pattern: '^[0-9]+$', examples: ['145'] }),
    tagID: Type.Integer(),
    relatedTagID: Type.Integer(),
    rank: Type.Integer({ minimum: 1 }),
  }),
);

export const SeriesList = Type.Array(SeriesWithEvents);
export const FamilySearchResponse = Type.Object({
  ...SearchResponse.properties,
  events: FamilyEventList,
});

/** There are no teams, sports and clarifications here. */
export const EmptyList = Type.Array(Type.Object({}), { maxItems: 0 });
export const MarketTypes = Type.Object({ marketTypes: Type.Array(text, { maxItems: 0 }) });
