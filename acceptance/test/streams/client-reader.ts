import { setTimeout as wait } from 'node:timers/promises';
import type { BookEvent, ExchangeClient, OwnEvent } from '@pm/client';
import type { Random } from '@pm/kit/random';
import { fillText, levelsHash, type OwnFillText } from './log-truth.ts';

/** A book that a reader had, and the record after which it had it. */
export interface SeenBook {
  readonly token: string;
  readonly offset: number;
  readonly hash: string;
}

/** Now and then a consumer reads nothing for up to so long, milliseconds. */
const pauseMaxMs = 3_000;
const pauseChance = 0.01;

/** Books and own events as the published client gives them, over every cut of its connection. */
export class ClientReader {
  readonly wallet: string;
  readonly books: SeenBook[] = [];
  readonly fills: OwnFillText[] = [];
  readonly problems: string[] = [];
  /** Pauses of its consumers. */
  pauses = 0;
  readonly #client: ExchangeClient;
  readonly #random: Random;
  readonly #ownSeqs = new Map<number, number>();
  readonly #newest = new Map<string, string>();
  readonly #streams: { return?(): Promise<unknown> }[] = [];
  readonly #followed: Promise<void>[] = [];
  #isOver = false;

  constructor(client: ExchangeClient, wallet: string, random: Random) {
    this.#client = client;
    this.wallet = wallet;
    this.#random = random;
  }

  /** Resolves when every subscription has begun. */
  async open(tokens: readonly string[], partitions: number): Promise<void> {
    const own = this.#client.own.events();
    for (let left = partitions; left > 0; ) {
      const { value } = await own.next();
      if (value?.type === 'snapshot') left -= 1;
      if (value !== undefined) this.#own(value);
    }
    this.#follow(own, (event) => this.#own(event));
    for (const token of tokens) {
      const book = this.#client.stream.book(token);
      const { value } = await book.next();
      if (value !== undefined) this.#book(value);
      this.#follow(book, (event) => this.#book(event));
    }
  }

  /** Hash of the newest book of a token. */
  newestBook(token: string): string | undefined {
    return this.#newest.get(token);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    for (const stream of this.#streams) await stream.return?.();
    await Promise.all(this.#followed);
  }

  #follow<Event>(
    events: AsyncIterableIterator<Event, undefined>,
    take: (event: Event) => void,
  ): void {
    this.#streams.push(events);
    this.#followed.push(this.#each(events, take));
  }

  async #each<Event>(events: AsyncIterable<Event>, take: (event: Event) => void): Promise<void> {
    try {
      for await (const event of events) {
        take(event);
        await this.#pause();
      }
      if (!this.#isOver) this.problems.push('a stream ended');
    } catch (error) {
      this.problems.push(`a stream failed: ${String(error)}`);
    }
  }

  async #pause(): Promise<void> {
    if (this.#isOver || !this.#random.chance(pauseChance)) return;
    this.pauses += 1;
    await wait(this.#random.integer(1, pauseMaxMs));
  }

  #book({ token, at, bids, asks, gap }: BookEvent): void {
    if (gap) this.problems.push(`a gap before ${token} ${at.offset}`);
    const hash = levelsHash(bids, asks);
    this.books.push({ token, offset: at.offset, hash });
    this.#newest.set(token, hash);
  }

  #own(event: OwnEvent): void {
    if (event.type === 'state') return;
    const { partition } = event.at;
    const known = this.#ownSeqs.get(partition);
    const isNext =
      event.type === 'snapshot' ? known === undefined : event.prev === known && isDense(event);
    if (!isNext) this.problems.push(`own after ${known}: ${JSON.stringify(event)}`);
    this.#ownSeqs.set(partition, event.seq);
    if (event.type === 'event' && event.kind === 'fill')
      this.fills.push({ partition, text: fillText(event) });
  }
}

const isDense = ({ seq, prev }: { readonly seq: number; readonly prev: number }): boolean =>
  seq === prev + 1;
