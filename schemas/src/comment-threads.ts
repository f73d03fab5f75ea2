import { type WalletAddress, walletFromBytes } from './ids.ts';
import type { CommentEvent, CommentParent, CommentPosted } from './topics/comments.ts';

/** A comment as the log says it is now. */
export interface HeldComment {
  readonly id: string;
  readonly author: WalletAddress;
  readonly parentType: CommentParent;
  readonly parentId: string;
  /** What it replies to; empty when it stands at the top. */
  readonly replyTo: string;
  /** The top of its thread; its own id when it stands there. */
  readonly top: string;
  readonly replyAddress: WalletAddress | null;
  readonly body: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Wallet -> when it began to like it, Unix milliseconds. */
  readonly likes: ReadonlyMap<WalletAddress, number>;
  readonly reportCount: number;
  readonly hidden: boolean;
}

interface Kept extends HeldComment {
  updatedAtMs: number;
  hidden: boolean;
  readonly clientId: string;
  readonly likes: Map<WalletAddress, number>;
  readonly reporters: Set<WalletAddress>;
}

/** Comments held; the oldest are forgotten beyond it, and are then on the log alone. About 1 kB each. */
export const commentsHeldMax = 100_000;

/** Likes and reports of one comment that are counted. */
export const commentVotesMax = 10_000;

/**
 * All comments, folded from the topic in its order: the same records give the same threads in every process. A record
 * that refers to nothing, repeats something, or is not its author's changes nothing.
 */
export class CommentThreads {
  readonly #comments = new Map<string, Kept>();
  readonly #tops = new Map<string, string[]>();
  readonly #replies = new Map<string, string[]>();
  readonly #byAuthor = new Map<WalletAddress, string[]>();
  readonly #byClientId = new Map<string, string>();
  readonly #max: number;

  constructor(max = commentsHeldMax) {
    this.#max = max;
  }

  get size(): number {
    return this.#comments.size;
  }

  find(id: string): HeldComment | undefined {
    return this.#comments.get(id);
  }

  /** What this author wrote under his own name for it. */
  findNamed(author: WalletAddress, clientId: string): HeldComment | undefined {
    const id = this.#byClientId.get(nameOf(author, clientId));
    return id === undefined ? undefined : this.#comments.get(id);
  }

  /** Comments that stand at the top under a parent, oldest first; hidden ones are left out. */
  topsOf(type: CommentParent, parentId: string): readonly HeldComment[] {
    return this.#shown(this.#tops.get(placeOf(type, parentId)));
  }

  /** All replies of a thread, oldest first; hidden ones are left out. */
  repliesOf(top: string): readonly HeldComment[] {
    return this.#shown(this.#replies.get(top));
  }

  /** What a wallet wrote, oldest first; hidden ones are left out. */
  byAuthor(author: WalletAddress): readonly HeldComment[] {
    return this.#shown(this.#byAuthor.get(author));
  }

  /** Takes the record at this offset in. */
  apply(offset: number, event: CommentEvent): void {
    if (event.kind === 'CommentPosted') {
      this.#post(commentIdAt(offset), event);
      return;
    }
    const comment = this.#comments.get(event.commentId);
    if (comment === undefined) return;
    if (event.kind === 'CommentHidden') {
      comment.hidden = event.hidden;
      return;
    }
    const wallet = walletFromBytes(event.wallet);
    switch (event.kind) {
      case 'CommentDeleted':
        if (comment.author === wallet) this.#remove(comment);
        break;
      case 'CommentReacted':
        if (!event.active) comment.likes.delete(wallet);
        else if (!comment.likes.has(wallet) && comment.likes.size < commentVotesMax) {
          comment.likes.set(wallet, event.timeMs);
        }
        break;
      case 'CommentReported':
        if (comment.reporters.size < commentVotesMax) comment.reporters.add(wallet);
        break;
    }
  }

  #post(id: string, event: CommentPosted): void {
    const author = walletFromBytes(event.author);
    const answered = event.replyTo === '' ? undefined : this.#comments.get(event.replyTo);
    if (event.replyTo !== '' && answered === undefined) return;
    if (event.clientId !== '' && this.findNamed(author, event.clientId) !== undefined) return;
    const reporters = new Set<WalletAddress>();
    const comment: Kept = {
      id,
      author,
      parentType: answered?.parentType ?? event.parentType,
      parentId: answered?.parentId ?? event.parentId,
      replyTo: event.replyTo,
      top: answered?.top ?? id,
      replyAddress: event.replyAddress === null ? null : walletFromBytes(event.replyAddress),
      body: event.body,
      clientId: event.clientId,
      createdAtMs: event.timeMs,
      updatedAtMs: event.timeMs,
      hidden: false,
      likes: new Map(),
      reporters,
      get reportCount() {
        return reporters.size;
      },
    };
    this.#keep(comment);
  }

  #keep(comment: Kept): void {
    this.#comments.set(comment.id, comment);
    const { list, key } = this.#listOf(comment);
    push(list, key, comment.id);
    push(this.#byAuthor, comment.author, comment.id);
    if (comment.clientId !== '') {
      this.#byClientId.set(nameOf(comment.author, comment.clientId), comment.id);
    }
    if (this.#comments.size <= this.#max) return;
    const oldest = this.#comments.values().next().value;
    if (oldest !== undefined) this.#remove(oldest);
  }

  /** A comment goes with its replies. */
  #remove(comment: Kept): void {
    const below = [...(this.#replies.get(comment.top) ?? [])]
      .flatMap((id) => this.#comments.get(id) ?? [])
      .filter((reply) => reply.replyTo === comment.id);
    for (const reply of below) this.#remove(reply);
    this.#comments.delete(comment.id);
    const { list, key } = this.#listOf(comment);
    pull(list, key, comment.id);
    pull(this.#byAuthor, comment.author, comment.id);
    if (comment.clientId !== '') this.#byClientId.delete(nameOf(comment.author, comment.clientId));
  }

  #listOf(comment: Kept): { list: Map<string, string[]>; key: string } {
    return comment.top === comment.id
      ? { list: this.#tops, key: placeOf(comment.parentType, comment.parentId) }
      : { list: this.#replies, key: comment.top };
  }

  #shown(ids: readonly string[] | undefined): readonly HeldComment[] {
    return (ids ?? []).flatMap((id) => {
      const comment = this.#comments.get(id);
      return comment === undefined || comment.hidden ? [] : [comment];
    });
  }
}

/** The id of the comment whose record stands at this offset of the topic. */
export function commentIdAt(offset: number): string {
  return String(offset + 1);
}

function placeOf(type: CommentParent, parentId: string): string {
  return `${type}:${parentId}`;
}

function nameOf(author: WalletAddress, clientId: string): string {
  return `${author}:${clientId}`;
}

function push<K>(lists: Map<K, string[]>, key: K, id: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [id]);
  else list.push(id);
}

function pull<K>(lists: Map<K, string[]>, key: K, id: string): void {
  const list = lists.get(key);
  if (list === undefined) return;
  const place = list.indexOf(id);
  if (place !== -1) list.splice(place, 1);
  if (list.length === 0) lists.delete(key);
}
