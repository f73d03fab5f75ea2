import { followTable } from '@pm/kit/compacted';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { CommentEvent } from '@pm/schemas/log/comments';
import type { TopicsOf } from '../commands/topics.io.ts';
import { CommentThreads } from '../comments/threads.ts';

export interface CommentsOptions {
  /** Resolves with the record's offset when it is durable. Rejects with a `Fault`. */
  append(event: CommentEvent): Promise<number>;
  /** How long a written record is waited for, milliseconds. */
  readonly waitMs?: number;
}

/** Written records that are waited for at once; beyond it writes are refused with 503. */
const waitingMax = 1_000;
const defaultWaitMs = 5_000;

/** All comments, read from the log and written to it. */
export class Comments {
  readonly threads = new CommentThreads();
  readonly #options: CommentsOptions;
  readonly #waiting = new Map<number, () => void>();
  #applied = -1;

  constructor(options: CommentsOptions) {
    this.#options = options;
  }

  take(event: CommentEvent, offset: number): void {
    this.threads.apply(offset, event);
    this.#applied = offset;
    for (const [waited, resolve] of this.#waiting) if (waited <= offset) resolve();
  }

  /**
   * Writes a record and waits until it is folded in, so that the response can show the change. Resolves with its
   * offset. Rejects with a `Fault`: `overloaded` (retry) when too many wait, `comment_not_seen` (retry) when it is
   * durable but was not read back in time.
   */
  async write(event: CommentEvent): Promise<number> {
    if (this.#waiting.size >= waitingMax) throw new Fault('overloaded', 'retry');
    const offset = await this.#options.append(event);
    await this.#seen(offset);
    return offset;
  }

  #seen(offset: number): Promise<void> {
    if (this.#applied >= offset) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(offset);
        reject(new Fault('comment_not_seen', 'retry', { facts: { offset } }));
      }, this.#options.waitMs ?? defaultWaitMs);
      this.#waiting.set(offset, () => {
        clearTimeout(timer);
        this.#waiting.delete(offset);
        resolve();
      });
    });
  }
}

/** Opens the comments on the log; resolves when all that were there are known. */
export async function openComments(
  { client, names, codecs, records }: TopicsOf<'comments'>,
  { log, onFault }: { readonly log: Log; onFault(fault: Fault): void },
): Promise<Comments> {
  const { comments: topic } = names;
  const { comments: codec } = codecs;
  const store = new Comments({
    async append(event) {
      const record = { topic, partition: 0, key: null, value: codec.encode(event) };
      const [place] = await records.send([record]);
      if (place === undefined) throw new Fault('not_sent', 'retry');
      return place.offset;
    },
  });
  await followTable(client, {
    topic,
    codec,
    log,
    onFault,
    take: (event, { offset }) => store.take(event, offset),
  });
  return store;
}
