import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { type CommentThreads, replyDepthMax, threadRepliesMax } from '@pm/domain/comments/threads';
import { textProblem, withPlainBreaks } from '@pm/domain/social/text-checks';
import type { CommentBody } from '@pm/schemas/http/comments';
import { parseConditionId, parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { type CommentParent, commentBodyMaxChars } from '@pm/schemas/log/comments';
import type { RefusalCode } from '@pm/schemas/refusals';

/** The subject of a comment, by its id in the catalog. */
export interface CommentPlace {
  readonly type: CommentParent;
  readonly id: string;
}

/** A comment whose form is sound. */
export interface CommentForm {
  readonly place: CommentPlace;
  readonly replyTo: string;
  readonly replyAddress: WalletAddress | null;
  readonly body: string;
  readonly clientId: string;
}

/** Why a body is no comment: this process knows nothing of that name. */
export const parentNotListed = 'parent_entity_id is not listed';

type Listed = Pick<CatalogIndex, 'findEvent' | 'hasSeries' | 'findMarket' | 'findCondition'>;

/** The comment of a body, or the reason why it is none (conventions.md 7.1). */
export function readCommentForm(sent: CommentBody, listed: Listed): CommentForm | string {
  const body = withPlainBreaks(sent.body);
  const problem = textProblem(body, { min: 1, max: commentBodyMaxChars });
  if (problem !== null) return `body ${problem}`;
  const place = findPlace(sent, listed);
  if (place === null) return parentNotListed;
  const replyAddress = sent.reply_address ?? '';
  const address = replyAddress === '' ? null : parseWalletAddress(replyAddress);
  if (replyAddress !== '' && address === null) return 'reply_address is no address';
  return {
    place,
    replyTo: sent.parent_comment_id ?? '',
    replyAddress: address,
    body,
    clientId: sent.client_id ?? '',
  };
}

function findPlace(sent: CommentBody, listed: Listed): CommentPlace | null {
  const id = String(sent.parent_entity_id);
  switch (sent.parent_entity_type) {
    case 'Event':
      return listed.findEvent(id) === undefined ? null : { type: 'EVENT', id };
    case 'Series':
      return listed.hasSeries(id) ? { type: 'SERIES', id } : null;
    case 'market': {
      const condition = parseConditionId(id);
      const market =
        condition === null
          ? listed.findMarket(marketNumber(id))?.market
          : listed.findCondition(condition)?.market.market;
      return market === undefined ? null : { type: 'MARKET', id: String(market) };
    }
  }
}

function marketNumber(id: string): number {
  return /^[1-9]\d{0,9}$/.test(id) ? Number(id) : -1;
}

/** Why a comment is not taken. */
export interface CommentRefusal {
  readonly code: RefusalCode;
  readonly facts: Readonly<Record<string, string>>;
}

export const noSuchComment: CommentRefusal = { code: 'comment_not_found', facts: {} };

/** Why a comment cannot reply to what it names; null when it can, or replies to nothing (conventions.md 7.1). */
export function replyRefusal(
  { place, replyTo }: Pick<CommentForm, 'place' | 'replyTo'>,
  threads: Pick<CommentThreads, 'find' | 'replyTotal'>,
): CommentRefusal | null {
  if (replyTo === '') return null;
  const answered = threads.find(replyTo);
  if (!answered?.isShown) return noSuchComment;
  if (answered.parentType !== place.type || answered.parentId !== place.id) {
    return invalid('parent_comment_id is about something else than parent_entity_id');
  }
  if (answered.depth >= replyDepthMax) {
    return invalid(`replies are nested ${replyDepthMax} levels deep at most`);
  }
  if (threads.replyTotal(answered.top) >= threadRepliesMax) {
    return invalid(`a thread has ${threadRepliesMax} replies at most`);
  }
  return null;
}

function invalid(detail: string): CommentRefusal {
  return { code: 'invalid_comment', facts: { detail } };
}
