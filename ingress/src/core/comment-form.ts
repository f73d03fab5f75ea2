import {
  type CommentBody,
  type CommentParent,
  commentBodyMaxChars,
  parseConditionId,
  parseWalletAddress,
  type WalletAddress,
} from '@pm/schemas';
import type { CatalogIndex } from './catalog-index.ts';
import { textProblem, withPlainBreaks } from './check-text.ts';

/** What a comment is about, by its id in the catalog. */
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

type Listed = Pick<CatalogIndex, 'findEvent' | 'hasSeries' | 'findMarket' | 'findCondition'>;

/** The comment of a body, or in words why it is none (conventions.md 6.4). */
export function readCommentForm(sent: CommentBody, listed: Listed): CommentForm | string {
  const body = withPlainBreaks(sent.body);
  const problem = textProblem(body, { min: 1, max: commentBodyMaxChars });
  if (problem !== null) return `body ${problem}`;
  const place = findPlace(sent, listed);
  if (place === null) return 'parent_entity_id is not listed';
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
