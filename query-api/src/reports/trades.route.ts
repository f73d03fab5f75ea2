import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import { marketNumbers } from '@pm/domain/markets/market-filter';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import { activityAnswer, readActivityQuery } from '@pm/domain/reports/activity';
import type { TradeRow } from '@pm/domain/reports/rows';
import { publicTrade, readTapeQuery, reportFrame } from '@pm/domain/reports/tape-query';
import type { Profiles } from '@pm/domain/social/profiles';
import type { HttpHandler } from '@pm/kit/http';
import { microText, priceText } from '@pm/schemas/decimal';
import { parseConditionId } from '@pm/schemas/ids';
import { tradeHash, tradeId } from '@pm/schemas/trade-id';
import { readRoute } from '../http/read-route.io.ts';
import type { Reports } from './reports.io.ts';

export interface TapeParts {
  readonly catalog: Catalog;
  readonly reports: Pick<Reports, 'activity' | 'tape'>;
  readonly profiles: Profiles;
}

/** GET /trades and GET /activity: the public tape, and what one wallet did (conventions.md 6.1). */
export function tapeRoutes(parts: TapeParts): readonly HttpHandler[] {
  const { catalog, reports } = parts;
  const trades = { method: 'GET', path: '/trades', family: 'data' } as const;
  const activity = { method: 'GET', path: '/activity', family: 'data' } as const;
  return [
    readRoute(trades, async ({ query, dialect }) => {
      const requested = readTapeQuery(query, dialect !== 'family');
      if (requested instanceof ReadRefusal) return requested;
      const markets = marketNumbers(catalog, requested);
      if (requested.limit === 0 || markets?.length === 0) return [];
      const rows = await reports.tape({ ...requested, markets });
      const frame = reportFrame(parts, dialect);
      return rows.flatMap((row) => publicTrade(row, frame));
    }),
    readRoute(activity, async ({ query, dialect }) => {
      const requested = readActivityQuery(query, dialect !== 'family');
      if (requested instanceof ReadRefusal) return requested;
      const markets = marketNumbers(catalog, requested);
      if (requested.limit === 0 || markets?.length === 0) return [];
      const rows = await reports.activity({ ...requested, markets });
      const frame = reportFrame(parts, dialect);
      return rows.flatMap((row) => activityAnswer(row, requested.user, frame));
    }),
  ];
}

/** Trades of one feed; clients have no parameter for it. */
const shownMax = 100;

/**
 * GET /markets/live-activity/{condition}, and its older path: the newest trades of a market with who took them, newest
 * first. A condition that is not listed has none (conventions.md 5.6).
 */
export function liveActivityRoutes(parts: TapeParts): readonly HttpHandler[] {
  const { catalog, reports, profiles } = parts;
  const route = (path: string) =>
    readRoute({ method: 'GET', path, family: 'clob' }, async ({ params }) => {
      const condition = parseConditionId(params['condition_id'] ?? '');
      const market = condition === null ? undefined : catalog.byCondition(condition);
      if (market === undefined) return [];
      const rows = await reports.tape({
        user: null,
        side: null,
        takerOnly: true,
        least: null,
        startS: null,
        endS: null,
        markets: [market.market],
        limit: shownMax,
        offset: 0,
      });
      return rows.map((row) => tradeEvent(row, market, profiles));
    });
  return [
    route('/markets/live-activity/:condition_id'),
    route('/live-activity/events/:condition_id'),
  ];
}

/** A trade as the family's feed has it: amounts and times are texts. */
function tradeEvent(row: TradeRow, market: Market, profiles: Profiles) {
  const { proxyWallet, name, pseudonym, profileImage } = profiles.of(row.wallet);
  return {
    event_type: 'trade',
    market: {
      condition_id: market.conditionId,
      asset_id: market.tokens[row.outcome],
      question: market.question,
      icon: market.icon,
      slug: market.slug,
    },
    user: {
      address: proxyWallet,
      username: name,
      profile_picture: profileImage,
      optimized_profile_picture: '',
      pseudonym,
    },
    side: row.side,
    size: microText(row.sizeMicro),
    fee_rate_bps: String(market.feeRateBps),
    price: priceText(row.price),
    outcome: market.outcomes[row.outcome],
    outcome_index: row.outcome,
    transaction_hash: tradeHash(tradeId(row)),
    timestamp: String(Math.floor(row.timeMs / 1000)),
  };
}
