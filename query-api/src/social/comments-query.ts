import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import { type CommentOrder, commentOrders } from '@pm/schemas/http/comments';
import type { CommentParent } from '@pm/schemas/log/comments';
import { type KeysetStart, readKeysetStart } from '../markets/keyset-cursor.ts';
import { type ListDialect, readLimit } from '../markets/list-query.ts';

export interface CommentSort {
  readonly orders: readonly CommentOrder[];
  readonly ascending: boolean;
}

export interface CommentsQuery {
  readonly limit: number;
  readonly offset: number;
  readonly sort: CommentSort;
  /** Null when an event is named by its slug. */
  readonly parent: { readonly type: CommentParent; readonly id: string } | null;
  readonly eventSlug: string | null;
  readonly holdersOnly: boolean;
  readonly getPositions: boolean;
}

/** A list sorted by one column that continues after a place. */
export interface CommentsKeyset extends CommentsQuery, KeysetStart {}

const parentTypes = { Event: 'EVENT', Series: 'SERIES', market: 'MARKET' } as const;
const parentNames = ['Event', 'Series', 'market'] as const;

/** The parameters of GET /comments, or why not. */
export function readCommentsQuery(
  query: RawQuery,
  dialect: ListDialect,
): CommentsQuery | ReadRefusal {
  const read = new QueryReader(query, 'gamma');
  const requested = readComments(read, dialect);
  return read.refusal ?? requested;
}

/** The parameters of GET /comments/keyset, or why not. */
export function readCommentsKeyset(
  query: RawQuery,
  dialect: ListDialect,
): CommentsKeyset | ReadRefusal {
  const read = new QueryReader(query, 'gamma');
  const requested = readComments(read, dialect);
  const { orders: order, ascending } = requested.sort;
  const start = readKeysetStart(read, 'comments', { order, ascending });
  return read.refusal ?? { ...requested, ...start };
}

function readComments(read: QueryReader, dialect: ListDialect): CommentsQuery {
  const id = read.text('parent_entity_id');
  const eventSlug = read.text('event_slug');
  if (id === null && eventSlug === null) read.fail('parent_entity_id or event_slug is required');
  const type = parentTypes[read.oneOf('parent_entity_type', parentNames, 'Event')];
  return {
    parent: id === null ? null : { type, id },
    eventSlug: id === null ? eventSlug : null,
    ...readPage(read, dialect),
    sort: readSort(read),
    holdersOnly: read.boolean('holders_only') ?? false,
    getPositions: read.boolean('get_positions') ?? false,
  };
}

/** `limit` as all lists of the family take it, and `offset`. */
export function readPage(
  read: QueryReader,
  dialect: ListDialect,
): { limit: number; offset: number } {
  return {
    limit: readLimit(read, dialect),
    offset: read.integer('offset', { min: 0, otherwise: 0 }),
  };
}

/** `order` is a comma list of columns, `ascending` holds for all of them; newest first without any. */
export function readSort(read: QueryReader): CommentSort {
  const byName = (text: string) => commentOrders.find((order) => order === text) ?? null;
  const orders = read.list('order', commentOrders.length, byName) ?? ['createdAt'];
  return { orders, ascending: read.boolean('ascending') ?? false };
}
