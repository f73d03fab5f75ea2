import type { HeldComment } from '@pm/domain/comments/threads';
import type { Catalog } from '@pm/domain/markets/catalog';
import { activityAnswer } from '@pm/domain/reports/activity';
import type { Profiles } from '@pm/domain/social/profiles';
import { wireComment } from '@pm/domain/social/wire-comment';
import type { FamilyMessage } from '@pm/schemas/streams/family-messages';
import type { ActivityChange } from '../feed/changes.ts';
import { activityRow } from '../protocol/publication.ts';
import { anyType, factOf, type LiveSubscription } from './live-subscription.ts';

type LiveBody = Extract<FamilyMessage, { readonly topic: string }>;

/**
 * Messages that are published at once: one payload under the types of its topic, with the facts that filters may name.
 */
export interface LiveEvent {
  readonly topic: LiveBody['topic'];
  /** One body for each type. */
  readonly bodies: readonly LiveBody[];
  /** Facts that filters may ask for (`factOf`). */
  readonly facts: ReadonlySet<string>;
}

const factsOf = (
  topic: LiveBody['topic'],
  facts: Readonly<Record<string, string>>,
): ReadonlySet<string> =>
  new Set(Object.entries(facts).map(([name, value]) => factOf(topic, name, value.toLowerCase())));

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
  const topic = 'activity';
  const shared = { topic, timestamp: change.at.timeMs, payload } as const;
  return {
    topic,
    bodies: [
      { ...shared, type: 'orders_matched' },
      { ...shared, type: 'trades' },
    ],
    facts: factsOf(topic, {
      event_slug: payload.eventSlug,
      market_slug: payload.slug,
      condition_id: payload.conditionId,
    }),
  };
}

/** A new comment, as GET /comments of the family shows it, without replies and holdings. */
export function commentEvent(comment: HeldComment, { catalog, profiles }: Facts): LiveEvent {
  const frame = { catalog, profiles, isFamily: true, reactionsMax: 0, holdings: new Map() };
  const listed = { comment, replyCount: 0, replies: [] };
  const topic = 'comments';
  const timestamp = comment.createdAtMs;
  return {
    topic,
    bodies: [{ topic, type: 'comment_created', timestamp, payload: wireComment(listed, frame) }],
    facts: factsOf(topic, {
      parentEntityID: comment.parentId,
      // Published filters spell the kind of a parent as the comment does, in any case.
      parentEntityType: comment.parentType,
    }),
  };
}

/** The body that a subscription gets of the event; null when it gets none. */
export function bodyFor(
  { topic, bodies, facts }: LiveEvent,
  { topic: wanted, type, filters }: LiveSubscription,
): LiveBody | null {
  if (topic !== wanted) return null;
  if (!filters.every((fact) => facts.has(fact))) return null;
  if (type === anyType) return bodies[0] ?? null;
  return bodies.find((one) => one.type === type) ?? null;
}
