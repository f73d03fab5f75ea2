import { unitsOf } from '@pm/domain/books/quote';
import { type PageBounds, readPageOf } from '@pm/domain/reading/paging';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import { optionalWallet } from '@pm/domain/reports/tape-query';
import type { Profiles } from '@pm/domain/social/profiles';
import type { LeaderboardEntry } from '@pm/schemas/http/reports';
import type { WalletAddress } from '@pm/schemas/ids';
import {
  type LeaderboardCategory,
  type LeaderboardPeriod,
  leaderboardCategories,
  leaderboardPeriods,
} from '@pm/schemas/tables/leaderboard-tables';

const categoryNames = Object.keys(leaderboardCategories) as LeaderboardCategory[];
const periodNames = Object.keys(leaderboardPeriods) as LeaderboardPeriod[];

export interface LeaderboardQuery {
  readonly category: LeaderboardCategory;
  readonly period: LeaderboardPeriod;
  readonly orderBy: 'PNL' | 'VOL';
  readonly limit: number;
  readonly offset: number;
  readonly user: WalletAddress | null;
  readonly userName: string | null;
}

/** A leaderboard, and which of it: a page, or some wallets. */
export interface LeaderboardSearch {
  /** Place in the list of categories. */
  readonly category: number;
  readonly period: LeaderboardPeriod;
  readonly orderBy: 'PNL' | 'VOL';
  readonly limit: number;
  readonly offset: number;
  /** Null: a page. */
  readonly wallets: readonly string[] | null;
}

/** Money in micro-USDC, the wallet in lower case. */
export interface LeaderboardRow {
  readonly rank: number;
  readonly wallet: string;
  readonly volMicro: number;
  readonly pnlMicro: number;
}

/** Rows of one computation, and when that was, Unix milliseconds. */
export interface LeaderboardPage {
  readonly atMs: number;
  readonly rows: readonly LeaderboardRow[];
}

const known = ['category', 'timePeriod', 'orderBy', 'limit', 'offset', 'user', 'userName'] as const;

/** As published for GET /v1/leaderboard; under the mount an empty page may be requested. */
const pageBounds: PageBounds = { limitMax: 50, limitDefault: 25, offsetMax: 1_000 };

/** The parameters of GET /v1/leaderboard, or why not (conventions.md 6.4). */
export function readLeaderboardQuery(
  query: RawQuery,
  strict: boolean,
): LeaderboardQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(known);
  const parsed = {
    category: read.oneOf('category', categoryNames, 'OVERALL'),
    period: read.oneOf('timePeriod', periodNames, 'DAY'),
    orderBy: read.oneOf('orderBy', ['PNL', 'VOL'], 'PNL'),
    ...readPageOf(read, { ...pageBounds, limitMin: strict ? 1 : 0 }),
    user: optionalWallet(read, 'user'),
    userName: read.text('userName'),
  };
  return read.refusal ?? parsed;
}

/** Wallets of one name that are looked up: names are not unique, and who shares one may be many. */
const namesakesMax = 1_000;

/** The leaderboard rows to look up; null when no wallet can be found. A wallet and a name must both fit. */
export function leaderboardSearch(
  { user, userName, category, ...query }: LeaderboardQuery,
  profiles: Pick<Profiles, 'named'>,
): LeaderboardSearch | null {
  const search = { ...query, category: categoryNames.indexOf(category) };
  const named = userName === null ? null : profiles.named(userName);
  if (user === null && named === null) return { ...search, wallets: null };
  const wallets = named === null ? [user ?? ''] : [...named];
  const both = wallets.filter((wallet) => user === null || wallet === user);
  return both.length === 0 ? null : { ...search, wallets: both.slice(0, namesakesMax) };
}

/** `noXName` stands for a wallet that states no name at X. */
export function leaderboardEntry(
  row: LeaderboardRow,
  profiles: Profiles,
  noXName: '' | null,
): LeaderboardEntry {
  const { proxyWallet, name, profileImage } = profiles.of(row.wallet);
  return {
    rank: String(row.rank),
    proxyWallet,
    userName: name,
    vol: unitsOf(row.volMicro),
    pnl: unitsOf(row.pnlMicro),
    profileImage,
    xUsername: profiles.xName(row.wallet as WalletAddress) ?? noXName,
    verifiedBadge: false,
  };
}

const bytesEach = 8;
/** The offset added to a figure, so that none is negative and bytes are in the order of figures. */
const bias = 2n ** 63n;

/** All figures of a leaderboard in ascending order, as bytes: each plus 2^63, 64 bits, the highest byte first. */
export class SortedFigures {
  readonly #bytes: Buffer;
  readonly count: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.count = Math.floor(bytes.length / bytesEach);
  }

  /** How many are larger: one less than the rank. */
  countAbove(figure: bigint): number {
    const biased = figure + bias;
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#bytes.readBigUInt64BE(middle * bytesEach) > biased) high = middle;
      else low = middle + 1;
    }
    return this.count - low;
  }
}
