import type { CommentThreads, HeldComment } from '@pm/domain/comments/threads';
import type { Catalog } from '@pm/domain/markets/catalog';
import { marketNamed } from '@pm/domain/markets/market-filter';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import {
  commentsIn,
  type ListedComment,
  reactionsShown,
  replyCounter,
} from '@pm/domain/social/listed-comment';
import type { Profiles } from '@pm/domain/social/profiles';
import { type Holdings, wireComment } from '@pm/domain/social/wire-comment';
import type { WireComment } from '@pm/schemas/http/comments';
import type { CommentParent } from '@pm/schemas/log/comments';
import type { TableReads } from '../tables/tables.io.ts';
import { authorsOf, holdingsByWallet, marketsOfParent } from './author-holdings.ts';
import type { CommentsQuery } from './comments-query.ts';
import { type SortedComment, sortComments } from './list-comments.ts';

export interface CommentParts {
  readonly catalog: Catalog;
  readonly tables: Pick<TableReads, 'authorHoldings'>;
  readonly threads: Pick<CommentThreads, 'find' | 'topsOf' | 'repliesOf' | 'byAuthor'>;
  readonly profiles: Profiles;
}

interface Parent {
  readonly type: CommentParent;
  readonly id: string;
}

/** Markets of all comments of a page, whatever they are about. */
const pageMarketsMax = 5_000;

const noHoldings: Holdings = new Map();
const none: ReadonlyMap<string, Holdings> = new Map();

/** All comments a query requests, sorted; the caller takes its page of them. */
export async function commentsFor(
  parts: CommentParts,
  requested: CommentsQuery,
): Promise<readonly SortedComment[] | ReadRefusal> {
  const parent = parentOf(parts, requested);
  if (parent instanceof ReadRefusal) return parent;
  const { threads } = parts;
  const tops = threads.topsOf(parent.type, parent.id);
  const kept = requested.holdersOnly ? await heldOnly(parts, parent, tops) : tops;
  return sortComments(kept, requested.sort, replyCounter(threads));
}

function parentOf(
  { catalog }: CommentParts,
  { parent, eventSlug }: CommentsQuery,
): Parent | ReadRefusal {
  if (eventSlug !== null) {
    const event = catalog.eventBySlug(eventSlug);
    return event === undefined ? refusals.eventNotFound : { type: 'EVENT', id: event.id };
  }
  if (parent === null) return refusals.eventNotFound;
  if (parent.type === 'EVENT')
    return catalog.event(parent.id) === undefined ? refusals.eventNotFound : parent;
  if (parent.type === 'SERIES') {
    return catalog.series(parent.id) === undefined ? refusals.seriesNotFound : parent;
  }
  const market = marketNamed(catalog, parent.id);
  return market === undefined
    ? refusals.marketNotFound
    : { type: 'MARKET', id: String(market.market) };
}

async function heldOnly(
  { catalog, tables }: CommentParts,
  parent: Parent,
  comments: readonly HeldComment[],
): Promise<readonly HeldComment[]> {
  const markets = marketsOfParent(catalog, parent);
  if (markets.length === 0 || comments.length === 0) return [];
  const rows = await tables.authorHoldings({ wallets: authorsOf(comments), markets });
  const holders = new Set(rows.map(({ wallet }) => wallet));
  return comments.filter(({ author }) => holders.has(author));
}

/**
 * Comments in their wire form, with what their authors hold of the markets they are about; the family must request
 * those.
 */
export async function answerComments(
  parts: CommentParts,
  listed: readonly ListedComment[],
  form: { readonly isFamily: boolean; readonly wantsPositions: boolean },
): Promise<readonly WireComment[]> {
  const { isFamily, wantsPositions } = form;
  const { catalog, profiles } = parts;
  const shown = commentsIn(listed);
  const holdings = !isFamily || wantsPositions ? await holdingsOf(parts, shown) : none;
  const frame = { catalog, profiles, isFamily, reactionsMax: reactionsShown(shown.length) };
  return listed.map((one) =>
    wireComment(one, {
      ...frame,
      holdings: holdings.get(keyOf(parentOfComment(one.comment))) ?? noHoldings,
    }),
  );
}

/** Holdings of authors by the subject of their comments; one read for all of them. */
async function holdingsOf(
  { catalog, tables }: CommentParts,
  comments: readonly HeldComment[],
): Promise<ReadonlyMap<string, Holdings>> {
  const parents = new Map(comments.map(parentOfComment).map((parent) => [keyOf(parent), parent]));
  const about = [...parents].map(
    ([key, parent]) => [key, new Set(marketsOfParent(catalog, parent))] as const,
  );
  const markets = [...new Set(about.flatMap(([, each]) => [...each]))].slice(0, pageMarketsMax);
  if (markets.length === 0) return none;
  const rows = await tables.authorHoldings({ wallets: authorsOf(comments), markets });
  return new Map(
    about.map(([key, each]) => {
      const own = rows.filter(({ market }) => each.has(market));
      return [key, holdingsByWallet(catalog, own)];
    }),
  );
}

function parentOfComment({ parentType: type, parentId: id }: HeldComment): Parent {
  return { type, id };
}

function keyOf({ type, id }: Parent): string {
  return `${type}:${id}`;
}
