import type { HeldComment } from '@pm/domain/comments/threads';
import type { Catalog } from '../../markets/catalog.ts';
import { activityAnswer } from '../../reports/activity.ts';
import type { Profiles } from '../../social/profiles.ts';
import { wireComment } from '../../social/wire-comment.ts';
import type { ActivityChange } from '../feed/changes.ts';
import { activityRow } from '../protocol/publication.ts';
import { type SharedMessage, sharedMessage } from './market-messages.ts';
import type { LiveSubscription } from './read-family-frame.ts';

/** What is published at once: one payload under the types of its topic, with what filters may name. */
export interface LiveEvent {
  readonly topic: string;
  readonly types: readonly string[];
  readonly timeMs: number;
  readonly payload: object;
  readonly facts: ReadonlyMap<string, string>;
}

interface Facts {
  readonly catalog: Catalog;
  readonly profiles: Profiles;
}

/** The taker's side of a fill, as a row of GET /activity; null for anything else. */
export function tradeEvent(change: ActivityChange, { catalog, profiles }: Facts): LiveEvent | null {
  if (change.role !== 'taker') return null;
  const frame = { catalog, profiles, form: 'numeric' } as const;
  const [payload] = activityAnswer(activityRow(change), change.wallet, frame);
  if (payload === undefined) return null;
  return {
    topic: 'activity',
    types: ['orders_matched', 'trades'],
    timeMs: change.at.timeMs,
    payload,
    facts: new Map([
      ['event_slug', payload.eventSlug],
      ['market_slug', payload.slug],
      ['condition_id', payload.conditionId],
    ]),
  };
}

/** A new comment, as GET /comments of the family shows it, without replies and holdings. */
export function commentEvent(comment: HeldComment, { profiles }: Facts): LiveEvent {
  const frame = { profiles, isFamily: true, reactionsMax: 0, holdings: new Map() };
  const listed = { comment, replyCount: 0, replies: [] };
  return {
    topic: 'comments',
    types: ['comment_created'],
    timeMs: comment.createdAtMs,
    payload: wireComment(listed, frame),
    facts: new Map([
      ['parentEntityID', comment.parentId],
      ['parentEntityType', comment.parentType],
    ]),
  };
}

export function liveMessage({ topic, timeMs, payload }: LiveEvent, type: string): SharedMessage {
  return sharedMessage({ topic, type, timestamp: timeMs, payload });
}

/** The type under which a subscription gets the event; null when it does not. */
export function typeFor(
  { topic, types, facts }: LiveEvent,
  { topic: wanted, type, filters }: LiveSubscription,
): string | null {
  if (topic !== wanted) return null;
  for (const [name, value] of filters) {
    // Published filters spell the kind of a parent as the comment does, in any case.
    if (facts.get(name)?.toLowerCase() !== value.toLowerCase()) return null;
  }
  if (type === '*') return types[0] ?? null;
  return types.find((one) => one === type) ?? null;
}
