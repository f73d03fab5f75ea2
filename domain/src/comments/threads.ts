import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { CommentEvent, CommentParent, CommentPosted } from '@pm/schemas/log/comments';

/** The current state of a comment. */
export interface HeldComment {
  readonly id: string;
  readonly author: WalletAddress;
  readonly parentType: CommentParent;
  readonly parentId: string;
  /** Id of the comment it replies to; empty at the top. */
  readonly replyTo: string;
  /** The top of its thread; its own id at the top. */
  readonly top: string;
  /** Number of comments above it. */
  readonly depth: number;
  readonly replyAddress: WalletAddress | null;
  readonly body: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Wallet -> time of its like, Unix milliseconds. */
  readonly likes: ReadonlyMap<WalletAddress, number>;
  readonly reportCount: number;
  /** Whether readers see it: neither it nor a comment above it is hidden. */
  readonly isShown: boolean;
}

interface Kept extends HeldComment {
  isShown: boolean;
  isHidden: boolean;
  /** The comment it replies to; null at the top. */
  readonly above: Kept | null;
  /** Its direct replies, oldest first. */
  readonly replies: Set<Kept>;
  readonly clientId: string;
  readonly likes: Map<WalletAddress, number>;
  readonly reporters: Set<WalletAddress>;
}

/** Comments in memory; beyond it whole threads are dropped and remain on the log only. About 1 kB each and the body. */
const commentsHeldMax = 100_000;

/** UTF-16 code units of their bodies, two bytes each: the longest bodies would be 800 MB, which no heap has. */
const bodyUnitsHeldMax = 32_000_000;

/**
 * Replies of one thread: it is returned as a whole in one response. Ingress refuses more; the fold accepts all on the
 * log.
 */
export const threadRepliesMax = 1_000;

/**
 * Depth of replies to replies: user interfaces indent each level. Ingress refuses more; the fold accepts all on the
 * log.
 */
export const replyDepthMax = 32;

/** Likes and reports of one comment that are counted. */
const commentVotesMax = 10_000;

/** Likes and reports of all comments together that are counted; about 100 bytes each. */
const votesHeldMax = 1_000_000;

/**
 * All comments, folded from the topic in its order: the same records give the same threads in every process. A record
 * that refers to nothing, repeats something, or is not its author's changes nothing. No record makes it throw, and each
 * costs as much as what it changes: a record stays on the topic and is folded again at every start.
 */
export class CommentThreads {
  readonly #comments = new Map<string, Kept>();
  /** Comments in memory of each thread, by its top; the least recently written thread is first. */
  readonly #threads = new Map<string, number>();
  /** One iterator for all calls: entries it has passed are deleted, and a new iterator would scan over them again. */
  readonly #oldestThreads = this.#threads.keys();
  readonly #tops = new Map<string, Set<Kept>>();
  readonly #byAuthor = new Map<WalletAddress, Set<Kept>>();
  readonly #byClientId = new Map<string, Kept>();
  readonly #max: number;
  readonly #votesMax: number;
  readonly #unitsMax: number;
  #votes = 0;
  #units = 0;

  constructor(max = commentsHeldMax, votesMax = votesHeldMax, unitsMax = bodyUnitsHeldMax) {
    this.#max = max;
    this.#votesMax = votesMax;
    this.#unitsMax = unitsMax;
  }

  get size(): number {
    return this.#comments.size;
  }

  /** Likes and reports that are counted. */
  get votes(): number {
    return this.#votes;
  }

  find(id: string): HeldComment | undefined {
    return this.#comments.get(id);
  }

  /** The comment that this author wrote under this client id. */
  findNamed(author: WalletAddress, clientId: string): HeldComment | undefined {
    return this.#byClientId.get(nameOf(author, clientId));
  }

  /** Shown top comments of a parent, oldest first. */
  topsOf(type: CommentParent, parentId: string): readonly HeldComment[] {
    return shownOf(this.#tops.get(placeOf(type, parentId)));
  }

  /** All shown replies below a comment, at any depth, oldest first. */
  repliesOf(id: string): readonly HeldComment[] {
    const comment = this.#comments.get(id);
    if (comment === undefined) return [];
    const [, ...replies] = withReplies(comment, ({ isShown }) => isShown);
    return replies.sort((one, other) => Number(one.id) - Number(other.id));
  }

  /** Number of replies in a thread, by its top, including hidden ones. */
  replyTotal(top: string): number {
    return Math.max(0, (this.#threads.get(top) ?? 0) - 1);
  }

  /** Shown comments of a wallet, oldest first. */
  byAuthor(author: WalletAddress): readonly HeldComment[] {
    return shownOf(this.#byAuthor.get(author));
  }

  /** Applies the record at this offset. */
  apply(offset: number, event: CommentEvent): void {
    if (event.kind === 'CommentPosted') {
      this.#post(commentIdAt(offset), event);
      return;
    }
    const comment = this.#comments.get(event.commentId);
    if (comment === undefined) return;
    if (event.kind === 'CommentHidden') {
      hide(comment, event.hidden);
      return;
    }
    const wallet = walletFromBytes(event.wallet);
    switch (event.kind) {
      case 'CommentDeleted':
        if (comment.author === wallet) this.#remove(comment);
        break;
      case 'CommentReacted':
        if (!event.active) this.#votes -= comment.likes.delete(wallet) ? 1 : 0;
        else if (this.#counts(comment.likes, wallet)) comment.likes.set(wallet, event.timeMs);
        break;
      case 'CommentReported':
        if (this.#counts(comment.reporters, wallet)) comment.reporters.add(wallet);
        break;
    }
  }

  /** Whether the vote is new and within the limits; it is counted then. */
  #counts(votes: ReadonlyMap<WalletAddress, unknown> | Set<WalletAddress>, wallet: WalletAddress) {
    if (votes.has(wallet)) return false;
    if (votes.size >= commentVotesMax || this.#votes >= this.#votesMax) return false;
    this.#votes += 1;
    return true;
  }

  #post(id: string, event: CommentPosted): void {
    const author = walletFromBytes(event.author);
    const above = event.replyTo === '' ? null : this.#comments.get(event.replyTo);
    if (above === undefined) return;
    if (event.clientId !== '' && this.findNamed(author, event.clientId) !== undefined) return;
    const reporters = new Set<WalletAddress>();
    this.#keep({
      id,
      author,
      above,
      parentType: above?.parentType ?? event.parentType,
      parentId: above?.parentId ?? event.parentId,
      replyTo: event.replyTo,
      top: above?.top ?? id,
      depth: above === null ? 0 : above.depth + 1,
      replyAddress: event.replyAddress === null ? null : walletFromBytes(event.replyAddress),
      body: event.body,
      clientId: event.clientId,
      createdAtMs: event.timeMs,
      updatedAtMs: event.timeMs,
      isHidden: false,
      isShown: above?.isShown ?? true,
      replies: new Set(),
      likes: new Map(),
      reporters,
      get reportCount() {
        return reporters.size;
      },
    });
  }

  #keep(comment: Kept): void {
    const { id, top, above, author, clientId } = comment;
    this.#comments.set(id, comment);
    this.#units += comment.body.length;
    if (above === null) add(this.#tops, placeOfComment(comment), comment);
    else above.replies.add(comment);
    add(this.#byAuthor, author, comment);
    if (clientId !== '') this.#byClientId.set(nameOf(author, clientId), comment);
    const held = (this.#threads.get(top) ?? 0) + 1;
    this.#threads.delete(top);
    this.#threads.set(top, held);
    while (this.#comments.size > this.#max || this.#units > this.#unitsMax) this.#forgetThread();
  }

  /** Drops the least recently written thread: that of the new comment last. */
  #forgetThread(): void {
    const { value = '' } = this.#oldestThreads.next();
    const top = this.#comments.get(value);
    if (top !== undefined) this.#remove(top);
  }

  /** Removes a comment with its replies. */
  #remove(comment: Kept): void {
    const gone = withReplies(comment, () => true);
    for (const each of gone) this.#forget(each);
    const { top, above } = comment;
    if (above === null) {
      take(this.#tops, placeOfComment(comment), comment);
      this.#threads.delete(top);
      return;
    }
    above.replies.delete(comment);
    this.#threads.set(top, (this.#threads.get(top) ?? 0) - gone.length);
  }

  #forget(comment: Kept): void {
    const { id, author, body, clientId, likes, reporters } = comment;
    this.#votes -= likes.size + reporters.size;
    this.#units -= body.length;
    this.#comments.delete(id);
    take(this.#byAuthor, author, comment);
    if (clientId !== '') this.#byClientId.delete(nameOf(author, clientId));
  }
}

/** The id of the comment whose record has this offset on the topic. */
export function commentIdAt(offset: number): string {
  return String(offset + 1);
}

/**
 * A comment and all replies reachable through comments that pass, each after the one it replies to. Without
 * recursion: a chain of replies can be longer than the stack.
 */
function withReplies(comment: Kept, passes: (reply: Kept) => boolean): Kept[] {
  const found = [comment];
  // The list grows while it is walked.
  for (const each of found) {
    for (const reply of each.replies) if (passes(reply)) found.push(reply);
  }
  return found;
}

/** Replies below a hidden comment are not shown either, whatever their own state. */
function hide(comment: Kept, isHidden: boolean): void {
  comment.isHidden = isHidden;
  for (const each of withReplies(comment, () => true)) {
    each.isShown = !each.isHidden && (each.above?.isShown ?? true);
  }
}

function shownOf(comments: ReadonlySet<Kept> | undefined): readonly HeldComment[] {
  return [...(comments ?? [])].filter(({ isShown }) => isShown);
}

function placeOf(type: CommentParent, parentId: string): string {
  return `${type}:${parentId}`;
}

function placeOfComment({ parentType, parentId }: HeldComment): string {
  return placeOf(parentType, parentId);
}

function nameOf(author: WalletAddress, clientId: string): string {
  return `${author}:${clientId}`;
}

function add<K>(sets: Map<K, Set<Kept>>, key: K, comment: Kept): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([comment]));
  else set.add(comment);
}

function take<K>(sets: Map<K, Set<Kept>>, key: K, comment: Kept): void {
  const set = sets.get(key);
  set?.delete(comment);
  if (set?.size === 0) sets.delete(key);
}
