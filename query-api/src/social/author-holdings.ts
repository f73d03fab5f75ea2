import type { HeldComment } from '@pm/domain/comments/threads';
import type { Catalog } from '@pm/domain/markets/catalog';
import { groupName } from '@pm/domain/markets/catalog-tables';
import type { CommentAuthor } from '@pm/schemas/http/comments';
import type { WalletAddress } from '@pm/schemas/ids';
import type { CommentParent } from '@pm/schemas/log/comments';
import type { Holding } from '../positions/holdings.ts';

/** Markets of one parent, and wallets of one list, whose holdings are looked up. */
const holdingMarketsMax = 500;
const holdingWalletsMax = 5_000;

/** Whose holdings in what a list of comments needs. */
export interface RequestedHoldings {
  readonly wallets: readonly WalletAddress[];
  readonly markets: readonly number[];
}

/** Numbers of the markets a parent is about: its own, those of the event, or those of the series' events. */
export function marketsOfParent(
  catalog: Catalog,
  { type, id }: { readonly type: CommentParent; readonly id: string },
): readonly number[] {
  if (type === 'MARKET') return [Number(id)];
  const events = type === 'EVENT' ? [id] : eventsOfSeries(catalog, id);
  const markets = events.flatMap((event) => catalog.marketsOf(event).map(({ market }) => market));
  return markets.slice(0, holdingMarketsMax);
}

function eventsOfSeries(catalog: Catalog, series: string): readonly string[] {
  const span = { order: [], ascending: true, offset: 0, limit: holdingMarketsMax };
  const events = catalog.eventTable.page({ groups: [groupName.series(series)] }, span);
  return events.map(({ id }) => id);
}

/** Authors of comments, each once. */
export function authorsOf(comments: readonly HeldComment[]): readonly WalletAddress[] {
  return [...new Set(comments.map(({ author }) => author))].slice(0, holdingWalletsMax);
}

/** Holdings by wallet in the form comments show them: numeric token id and base units. */
export function holdingsByWallet(
  catalog: Catalog,
  rows: readonly Holding[],
): ReadonlyMap<string, CommentAuthor['positions']> {
  const byWallet = new Map<string, CommentAuthor['positions']>();
  for (const { wallet, market, outcome, sizeMicro } of rows) {
    const tokenId = catalog.market(market)?.tokens[outcome];
    if (tokenId === undefined) continue;
    const held = byWallet.get(wallet) ?? [];
    held.push({ tokenId, positionSize: String(sizeMicro) });
    byWallet.set(wallet, held);
  }
  return byWallet;
}
