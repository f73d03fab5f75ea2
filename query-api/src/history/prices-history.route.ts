import type { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import { historiesPerRequestMax } from '@pm/schemas/http/reading';
import { parseConditionId, parseTokenId } from '@pm/schemas/ids';
import { andThen, readRoute } from '../http/read-route.io.ts';
import type { TableReads } from '../tables/tables.io.ts';
import { noPrices } from './history.ts';
import { firstPriceS, type HistoryRequest, planHistory } from './history-plan.ts';
import { HistoryTexts } from './history-text.ts';

export interface HistoryParts {
  readonly catalog: Catalog;
  readonly tables: Pick<TableReads, 'prices'>;
  nowMs(): number;
}

/** Unix seconds up to the year 2105, what the tables hold. */
export const secondsMax = 4_200_000_000;
/** A week in minutes and more: anything wider is the widest bucket. */
const fidelityMax = 1_000_000;

/** GET /prices-history: midpoints of one token in buckets (conventions.md 5.3). */
export function pricesHistoryRoute(parts: HistoryParts): HttpHandler {
  const route = { method: 'GET', path: '/prices-history', family: 'clob' } as const;
  const texts = new HistoryTexts();
  return readRoute(route, ({ query }) => {
    const read = new QueryReader(query, 'clob');
    const target = read.text('market');
    const seconds = { min: 0, max: secondsMax };
    const request = {
      interval: read.text('interval', 8),
      startS: read.optionalInteger('startTs', seconds) ?? read.optionalInteger('start_ts', seconds),
      endS: read.optionalInteger('endTs', seconds) ?? read.optionalInteger('end_ts', seconds),
      fidelity: read.optionalInteger('fidelity', { min: 1, max: fidelityMax }),
    };
    if (read.refusal !== null || target === null) return refusals.invalidPayload;
    const listing = historyTarget(parts.catalog, target);
    if (listing === null) return refusals.invalidToken;
    const firstS = firstPriceS(listing === undefined ? [] : [listing.market]);
    const plan = planHistory(request, { nowS: Math.floor(parts.nowMs() / 1000), firstS });
    if (plan instanceof ReadRefusal) return plan;
    if (listing === undefined) return { history: [] };
    const { outcome } = listing;
    return andThen(parts.tables.prices([listing], plan), ([facts = noPrices]) =>
      ascii(`{"history":${texts.of(plan, facts, outcome)}}`),
    );
  });
}

/** Points are numbers, and ids digits: a byte for each character. */
function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** POST /batch-prices-history: histories of 1 to 20 tokens by the ids given (conventions.md 5.3). */
export function batchPricesHistoryRoute(parts: HistoryParts): HttpHandler {
  const route = { method: 'POST', path: '/batch-prices-history', family: 'clob' } as const;
  const texts = new HistoryTexts();
  return readRoute(route, ({ body }) => {
    const batch = readBatch(body);
    if (batch instanceof ReadRefusal) return batch;
    const targets = batch.markets.map((id) => historyTarget(parts.catalog, id));
    if (targets.includes(null)) return refusals.invalidPayload;
    const firstS = firstPriceS(targets.flatMap((target) => target?.market ?? []));
    const times = { nowS: Math.floor(parts.nowMs() / 1000), firstS };
    const plan = planHistory(batch.request, times);
    if (plan instanceof ReadRefusal) return plan;
    const listings = targets.flatMap((target) => target ?? []);
    const facts = listings.length === 0 ? [] : parts.tables.prices(listings, plan);
    return andThen(facts, (known) => {
      const histories = new Map(
        listings.map((listing, place) => {
          const prices = known[place] ?? noPrices;
          return [listing, texts.of(plan, prices, listing.outcome)] as const;
        }),
      );
      return ascii(historiesJson(batch.markets, targets, histories));
    });
  });
}

/** Histories by the ids given, each once; of what is not listed an empty one. */
function historiesJson(
  ids: readonly string[],
  targets: readonly (Listing | undefined | null)[],
  histories: ReadonlyMap<Listing, string>,
): string {
  const byId = new Map(
    ids.map((id, place) => {
      const target = targets[place] ?? undefined;
      return [id, (target && histories.get(target)) ?? '[]'] as const;
    }),
  );
  const members = [...byId].map(([id, text]) => `${JSON.stringify(id)}:${text}`);
  return `{"history":{${members.join(',')}}}`;
}

interface Batch {
  readonly markets: readonly string[];
  readonly request: HistoryRequest;
}

function readBatch(body: unknown): Batch | ReadRefusal {
  if (typeof body !== 'object' || body === null) return refusals.invalidPayload;
  const given = body as Readonly<Record<string, unknown>>;
  const { markets } = given;
  if (!Array.isArray(markets) || markets.length === 0) return refusals.invalidPayload;
  if (markets.length > historiesPerRequestMax) return refusals.payloadTooLarge;
  if (!markets.every((id): id is string => typeof id === 'string')) return refusals.invalidPayload;
  const request = readRange(given);
  return request === null ? refusals.invalidPayload : { markets, request };
}

/** The range in either spelling; null when a value is not of its kind. */
function readRange(given: Readonly<Record<string, unknown>>): HistoryRequest | null {
  const interval = given['interval'] ?? null;
  const startS = wholeNumber(given['start_ts'] ?? given['startTs'], { min: 0, max: secondsMax });
  const endS = wholeNumber(given['end_ts'] ?? given['endTs'], { min: 0, max: secondsMax });
  const fidelity = wholeNumber(given['fidelity'], { min: 1, max: fidelityMax });
  if (startS === undefined || endS === undefined || fidelity === undefined) return null;
  if (interval !== null && typeof interval !== 'string') return null;
  // A body with markets only is in the specification with a good answer: the whole history (part 9, 28).
  const isBare = interval === null && startS === null && endS === null;
  return { interval: isBare ? 'max' : interval, startS, endS, fidelity };
}

/** Null when absent, undefined when it is not a whole number within the bounds. */
function wholeNumber(
  value: unknown,
  { min, max }: { min: number; max: number },
): number | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
    ? value
    : undefined;
}

/**
 * Listing of the misnamed parameter `market` of price histories: a token id, or a condition id for its first token
 * (conventions.md 5.3). Undefined when it is not listed, null when it is neither.
 */
function historyTarget(catalog: Catalog, text: string): Listing | undefined | null {
  const token = parseTokenId(text);
  if (token !== null) return catalog.listing(token);
  const condition = parseConditionId(text);
  if (condition === null) return null;
  const market = catalog.byCondition(condition);
  return market === undefined ? undefined : catalog.listing(market.tokens[0]);
}
