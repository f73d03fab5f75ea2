import { type CommentThreads, commentIdAt, type HeldComment } from '@pm/domain/comments/threads';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { WalletAddress } from '@pm/schemas/ids';
import type { CommentEvent, CommentParent } from '@pm/schemas/log/comments';

/** A comment as it was after a record. */
export interface ShownComment {
  readonly id: string;
  readonly parentType: CommentParent;
  readonly parentId: string;
  readonly replyTo: string;
  readonly author: WalletAddress;
  readonly body: string;
  readonly createdAtMs: number;
  readonly reactions: number;
}

/** One record of the topic `comments` that changed what readers of an event see. */
export interface CommentChange {
  readonly eventId: string;
  /** Offset of the record plus one. */
  readonly seq: number;
  /** `seq` of the change of the event before; 0 for the first. */
  readonly prev: number;
  readonly timeMs: number;
  readonly action: 'posted' | 'deleted' | 'reacted' | 'hidden' | 'shown';
  readonly commentId: string;
  /** Null when it is not shown. */
  readonly comment: ShownComment | null;
}

interface EventComments {
  seq: number;
  /** Ids of its newest comments, the oldest first. */
  posted: string[];
}

/** Changes of all events that are kept for clients that resume. */
const recentCommentsMax = 20_000;
/** Ids kept per event: the newest shown ones are looked for among them. */
const postedMax = 200;

/**
 * The comments of each event in the order of their topic, which is append-only: `seq` is a place in it, so that every
 * process numbers alike, whatever it has read or forgotten. Comments on a market belong to its event; those on a series
 * to none.
 */
export class CommentFeed {
  readonly #threads: CommentThreads;
  readonly #catalog: Pick<Catalog, 'marketById'>;
  readonly #events = new Map<string, EventComments>();
  readonly #listeners = new Set<(change: CommentChange) => void>();
  readonly #recentMax: number;
  #recent: CommentChange[] = [];
  #offset = -1;
  #timeMs = 0;

  constructor(
    threads: CommentThreads,
    catalog: Pick<Catalog, 'marketById'>,
    recentMax = recentCommentsMax,
  ) {
    this.#threads = threads;
    this.#catalog = catalog;
    this.#recentMax = recentMax;
  }

  /** The newest record taken; -1 before the first. */
  get offset(): number {
    return this.#offset;
  }

  /** Its time, Unix milliseconds. */
  get timeMs(): number {
    return this.#timeMs;
  }

  /** Calls the listener with each change from now on. */
  listen(listener: (change: CommentChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Folds the record at this offset into the threads and reports what it changed. */
  apply(offset: number, event: CommentEvent): void {
    const id = event.kind === 'CommentPosted' ? commentIdAt(offset) : event.commentId;
    const known = this.#threads.find(id);
    const before = known === undefined ? null : stateOf(known);
    this.#threads.apply(offset, event);
    this.#offset = offset;
    this.#timeMs = event.timeMs;
    const after = this.#threads.find(id);
    const action = actionOf(event, before, after === undefined ? null : stateOf(after));
    const eventId = eventOf(after ?? known, this.#catalog);
    if (action === null || eventId === null) return;
    const comment = after?.isShown === true ? shown(after) : null;
    this.#add(eventId, { seq: offset + 1, timeMs: event.timeMs, action, commentId: id, comment });
  }

  /** `seq` of the newest change of an event; 0 before the first. */
  seqOf(eventId: string): number {
    return this.#events.get(eventId)?.seq ?? 0;
  }

  /** The newest comments of an event that are shown, the newest first. */
  newest(eventId: string, max: number): readonly ShownComment[] {
    const found: ShownComment[] = [];
    const posted = this.#events.get(eventId)?.posted ?? [];
    for (let at = posted.length - 1; at >= 0 && found.length < max; at -= 1) {
      const comment = this.#threads.find(posted[at] ?? '');
      if (comment?.isShown === true) found.push(shown(comment));
    }
    return found;
  }

  /** The changes of an event after one of them; null when some of them are not kept any more. */
  after(eventId: string, seq: number): readonly CommentChange[] | null {
    const found = this.#recent.filter((one) => one.eventId === eventId && one.seq > seq);
    const [first] = found;
    const isWhole = first === undefined ? this.seqOf(eventId) <= seq : first.prev <= seq;
    return isWhole ? found : null;
  }

  #add(eventId: string, made: Omit<CommentChange, 'eventId' | 'prev'>): void {
    const event = this.#events.get(eventId) ?? { seq: 0, posted: [] };
    this.#events.set(eventId, event);
    const change = { eventId, prev: event.seq, ...made };
    event.seq = change.seq;
    if (change.action === 'posted') event.posted.push(change.commentId);
    if (event.posted.length > 2 * postedMax) event.posted = event.posted.slice(-postedMax);
    this.#recent.push(change);
    if (this.#recent.length > 2 * this.#recentMax) {
      this.#recent = this.#recent.slice(-this.#recentMax);
    }
    for (const listener of this.#listeners) listener(change);
  }
}

interface CommentState {
  readonly isShown: boolean;
  readonly likes: number;
}

const stateOf = ({ isShown, likes }: HeldComment): CommentState => ({ isShown, likes: likes.size });

/** Action of a comment record as readers see it; null when they see no difference. */
function actionOf(
  { kind }: CommentEvent,
  before: CommentState | null,
  after: CommentState | null,
): CommentChange['action'] | null {
  if (kind === 'CommentPosted') return before === null && after !== null ? 'posted' : null;
  if (before === null) return null;
  if (after === null) return 'deleted';
  if (before.isShown !== after.isShown) return after.isShown ? 'shown' : 'hidden';
  return before.likes === after.likes ? null : 'reacted';
}

function eventOf(
  comment: HeldComment | undefined,
  catalog: Pick<Catalog, 'marketById'>,
): string | null {
  if (comment === undefined || comment.parentType === 'SERIES') return null;
  if (comment.parentType === 'EVENT') return comment.parentId;
  return catalog.marketById(comment.parentId)?.eventId ?? null;
}

function shown(comment: HeldComment): ShownComment {
  const { id, parentType, parentId, replyTo, author, body, createdAtMs, likes } = comment;
  const reactions = likes.size;
  return { id, parentType, parentId, replyTo, author, body, createdAtMs, reactions };
}
