import type { CommentEvent } from '@pm/schemas/log/comments';
import { commentIdAt } from '../../src/comments/threads.ts';

interface Plain {
  readonly id: string;
  readonly author: string;
  readonly place: string;
  readonly replyTo: string;
  readonly clientId: string;
  readonly body: string;
  isHidden: boolean;
  likes: readonly string[];
  reporters: readonly string[];
}

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

/** The rules of `CommentThreads` over one list that is searched from scratch for each call. */
export class NaiveThreads {
  #comments: readonly Plain[] = [];
  /** Tops, the one whose thread was written to longest ago first. */
  #written: readonly string[] = [];
  readonly #max: number;
  readonly #votesMax: number;
  readonly #unitsMax: number;

  constructor(max: number, votesMax: number, unitsMax: number) {
    this.#max = max;
    this.#votesMax = votesMax;
    this.#unitsMax = unitsMax;
  }

  apply(offset: number, event: CommentEvent): void {
    if (event.kind === 'CommentPosted') {
      this.#post(commentIdAt(offset), event);
      return;
    }
    const comment = this.#find(event.commentId);
    if (comment === undefined) return;
    if (event.kind === 'CommentHidden') comment.isHidden = event.hidden;
    else if (event.kind === 'CommentDeleted') {
      if (comment.author === hex(event.wallet)) this.#remove(comment.id);
    } else if (event.kind === 'CommentReported') {
      comment.reporters = this.#with(comment.reporters, hex(event.wallet));
    } else if (event.active) {
      comment.likes = this.#with(comment.likes, hex(event.wallet));
    } else {
      comment.likes = comment.likes.filter((wallet) => wallet !== hex(event.wallet));
    }
  }

  /** Everything that can be asked. */
  seen() {
    const shown = this.#comments.filter((comment) =>
      this.#pathOf(comment).every(({ isHidden }) => !isHidden),
    );
    const ids = (comments: readonly Plain[]) => comments.map(({ id }) => id);
    return this.#comments.map((comment) => ({
      id: comment.id,
      author: comment.author,
      top: this.#topOf(comment),
      depth: this.#pathOf(comment).length - 1,
      isShown: shown.includes(comment),
      likes: comment.likes,
      reportCount: comment.reporters.length,
      replies: ids(
        shown.filter((each) => each !== comment && this.#pathOf(each).includes(comment)),
      ),
      total: this.#comments.filter((each) => each !== comment && this.#topOf(each) === comment.id)
        .length,
      beside: ids(
        shown.filter(({ replyTo, place }) => replyTo === '' && place === this.#placeOf(comment)),
      ),
      byAuthor: ids(shown.filter(({ author }) => author === comment.author)),
      named: comment.clientId === '' ? '' : comment.id,
    }));
  }

  #with(votes: readonly string[], wallet: string): readonly string[] {
    const all = this.#comments.flatMap(({ likes, reporters }) => [...likes, ...reporters]);
    return votes.includes(wallet) || all.length >= this.#votesMax ? votes : [...votes, wallet];
  }

  #find(id: string): Plain | undefined {
    return this.#comments.find((comment) => comment.id === id);
  }

  /** A comment and all above it, the top last. */
  #pathOf(comment: Plain): readonly Plain[] {
    const path = [comment];
    for (const each of path) {
      const above = this.#find(each.replyTo);
      if (above !== undefined) path.push(above);
    }
    return path;
  }

  #topOf(comment: Plain): string {
    return this.#pathOf(comment).at(-1)?.id ?? '';
  }

  #placeOf(comment: Plain): string {
    return this.#pathOf(comment).at(-1)?.place ?? '';
  }

  #post(id: string, event: Extract<CommentEvent, { kind: 'CommentPosted' }>): void {
    const { replyTo, clientId, body, parentType, parentId } = event;
    const author = hex(event.author);
    if (replyTo !== '' && this.#find(replyTo) === undefined) return;
    const isNamed = (each: Plain) => each.author === author && each.clientId === clientId;
    if (clientId !== '' && this.#comments.some(isNamed)) return;
    const place = `${parentType}:${parentId}`;
    const comment = {
      id,
      author,
      place,
      replyTo,
      clientId,
      body,
      isHidden: false,
      likes: [],
      reporters: [],
    };
    this.#comments = [...this.#comments, comment];
    const top = this.#topOf(comment);
    this.#written = [...this.#written.filter((each) => each !== top), top];
    const units = () => this.#comments.map((each) => each.body).join('').length;
    while (this.#comments.length > this.#max || units() > this.#unitsMax) {
      this.#remove(this.#written[0] ?? '');
    }
  }

  #remove(id: string): void {
    this.#comments = this.#comments.filter((each) =>
      this.#pathOf(each).every((above) => above.id !== id),
    );
    this.#written = this.#written.filter((top) => this.#find(top) !== undefined);
  }
}
