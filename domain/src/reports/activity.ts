import { type ActivitySort, activitySorts } from '@pm/schemas/http/report-choices';
import type { Activity } from '@pm/schemas/http/reports';
import type { WalletAddress } from '@pm/schemas/ids';
import { tradeHash, tradeId } from '@pm/schemas/trade-id';
import { microPerPrice, unitsOf } from '../books/quote.ts';
import { type MarketFilter, readMarketFilter } from '../markets/market-filter.ts';
import { assetId } from '../positions/positions.ts';
import { readWallet } from '../positions/positions-query.ts';
import { type PageBounds, readPageOf } from '../reading/paging.ts';
import { QueryReader, type RawQuery } from '../reading/query-reader.ts';
import type { ReadRefusal } from '../reading/refusal.ts';
import { type ActivityRow, type ActivityType, activityTypes, marketLabels } from './rows.ts';
import { optionalSide, type ReportFrame, readTimes, traderProfile } from './tape-query.ts';

export interface ActivityQuery extends MarketFilter {
  readonly user: WalletAddress;
  /** Null: all. */
  readonly types: readonly ActivityType[] | null;
  readonly side: 'BUY' | 'SELL' | null;
  readonly startS: number | null;
  readonly endS: number | null;
  readonly sortBy: ActivitySort;
  readonly sortDirection: 'ASC' | 'DESC';
  readonly limit: number;
  readonly offset: number;
}

/** An activity query with its markets resolved; null: all. */
export interface ActivitySearch extends Omit<ActivityQuery, 'conditions' | 'eventIds'> {
  readonly markets: readonly number[] | null;
}

const known = [
  'user',
  'market',
  'eventId',
  'type',
  'side',
  'start',
  'end',
  'sortBy',
  'sortDirection',
  'excludeDepositsWithdrawals',
  'limit',
  'offset',
] as const;

/** Types a client may name that never happen here; they find nothing. */
const otherTypes = ['MAKER_REBATE', 'REFERRAL_REWARD', 'YIELD', 'DEPOSIT', 'WITHDRAWAL'];

/** Types of one request: more than there are, so that a client may name one twice. */
const typesMax = 20;

/** As clients of the family use GET /activity. */
const pageBounds: PageBounds = { limitMax: 500, limitDefault: 100, offsetMax: 10_000 };

/** The parameters of GET /activity, or why not (conventions.md 6.1). */
export function readActivityQuery(query: RawQuery, strict: boolean): ActivityQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(known);
  const user = readWallet(read);
  const types = read.list('type', typesMax, typeOf);
  read.boolean('excludeDepositsWithdrawals');
  const parsed = {
    ...readMarketFilter(read),
    types: types === null ? null : types.filter((type) => type !== 'OTHER'),
    side: optionalSide(read),
    ...readTimes(read),
    sortBy: read.oneOf('sortBy', activitySorts, 'TIMESTAMP'),
    sortDirection: read.oneOf('sortDirection', ['ASC', 'DESC'], 'DESC'),
    ...readPageOf(read, pageBounds),
  };
  if (read.refusal !== null || user === null) return read.refusal ?? failed(read);
  return { ...parsed, user };
}

function failed(read: QueryReader): ReadRefusal {
  read.missing('user');
  return read.refusal as ReadRefusal;
}

function typeOf(text: string): ActivityType | 'OTHER' | null {
  const known = activityTypes.find((type) => type === text);
  return known ?? (otherTypes.includes(text) ? 'OTHER' : null);
}

/** Stands for the outcome of what concerns no token alone; what clients of the family know. */
const noOutcome = 999;

/** One thing a wallet did; those of markets the catalog does not know are not shown. */
export function activityAnswer(
  row: ActivityRow,
  wallet: WalletAddress,
  { catalog, profiles, form }: ReportFrame,
): readonly Activity[] {
  const market = catalog.market(row.market);
  if (market === undefined) return [];
  const { outcome } = row;
  return [
    {
      ...traderProfile(wallet, profiles),
      timestamp: Math.floor(row.timeMs / 1000),
      conditionId: market.conditionId,
      type: row.type,
      size: unitsOf(row.sizeMicro),
      usdcSize: unitsOf(row.usdcMicro),
      transactionHash: tradeHash(tradeId(row)),
      price: unitsOf(row.price * microPerPrice),
      asset: outcome === null ? '' : assetId(market, outcome, form),
      side: row.side ?? '',
      outcomeIndex: outcome ?? noOutcome,
      outcome: outcome === null ? '' : market.outcomes[outcome],
      ...marketLabels(market, catalog.event(market.eventId)?.slug ?? ''),
    },
  ];
}
