/** Numbers that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Message {
  readonly seq: number;
  readonly prev: number;
  readonly at: { readonly partition: number; readonly offset: number; readonly index: number };
  readonly time: number;
  readonly [field: string]: unknown;
}

interface Level {
  readonly price: string;
  readonly size: string;
}

/** Everything that was sent on a channel to a key, or to the wallet in a partition. */
export class History {
  readonly messages: Message[] = [];
  /** Body of the snapshot after each message; the first is that before all. */
  readonly states: Record<string, unknown>[] = [];
  readonly partition: number;

  constructor(partition: number, state: Record<string, unknown>) {
    this.partition = partition;
    this.states.push(state);
  }

  get seq(): number {
    return this.messages.length;
  }

  append(body: Record<string, unknown>, state: Record<string, unknown>): Message {
    const seq = this.seq + 1;
    const at = { partition: this.partition, offset: seq * 3, index: 0 };
    const message = { seq, prev: seq - 1, at, time: 1_780_000_000_000 + seq, ...body };
    this.messages.push(message);
    this.states.push(state);
    return message;
  }
}

/** Books, trades and own events that change at random. */
export class FakeLog {
  readonly books = new Map<string, History>();
  readonly trades = new Map<string, History>();
  readonly own: readonly History[];
  readonly #levels = new Map<string, { bids: Map<number, string>; asks: Map<number, string> }>();
  readonly #random: () => number;

  constructor(
    random: () => number,
    size: { readonly tokens: number; readonly partitions: number },
  ) {
    this.#random = random;
    for (let index = 0; index < size.tokens; index += 1) {
      const token = String(1_000 + index);
      this.#levels.set(token, { bids: new Map(), asks: new Map() });
      this.books.set(token, new History(index % size.partitions, this.bookOf(token)));
      this.trades.set(marketOf(token), new History(index % size.partitions, { items: [] }));
    }
    const empty = { orders: [], balance: { free: '0', held: '0' }, positions: [] };
    this.own = Array.from({ length: size.partitions }, (_, at) => new History(at, empty));
  }

  /** One change of something; returns where. */
  step(): { readonly channel: 'book' | 'trades' | 'own'; readonly history: History } {
    const kind = this.#random();
    const token = this.#pick([...this.books.keys()]);
    if (kind < 0.5) return { channel: 'book', history: this.#changeBook(token) };
    if (kind < 0.7) {
      const history = this.#found(this.trades, marketOf(token));
      history.append({ token, side: 'BUY', price: '0.5', size: '1' }, { items: [] });
      return { channel: 'trades', history };
    }
    const history = this.#pick(this.own);
    const balance = { free: String(history.seq + 1), held: '0' };
    history.append({ kind: 'balance', balance }, { orders: [], balance, positions: [] });
    return { channel: 'own', history };
  }

  bookOf(token: string): { readonly bids: Level[]; readonly asks: Level[] } {
    const levels = this.#found(this.#levels, token);
    const sorted = (side: ReadonlyMap<number, string>, direction: number) =>
      [...side]
        .sort(([a], [b]) => (a - b) * direction)
        .map(([price, size]) => ({ price: String(price / 100), size }));
    return { bids: sorted(levels.bids, 1), asks: sorted(levels.asks, -1) };
  }

  #changeBook(token: string): History {
    const levels = this.#found(this.#levels, token);
    const changed = Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => {
      const isBid = this.#random() < 0.5;
      const price = isBid
        ? 1 + Math.floor(this.#random() * 49)
        : 51 + Math.floor(this.#random() * 48);
      const size = this.#random() < 0.3 ? '0' : String(1 + Math.floor(this.#random() * 500));
      const side = isBid ? levels.bids : levels.asks;
      if (size === '0') side.delete(price);
      else side.set(price, size);
      return { side: isBid ? 'BUY' : 'SELL', price: String(price / 100), size };
    });
    const history = this.#found(this.books, token);
    history.append({ levels: changed }, this.bookOf(token));
    return history;
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  #found<Item>(items: ReadonlyMap<string, Item>, key: string): Item {
    const item = items.get(key);
    if (item === undefined) throw new RangeError(`there is no ${key}`);
    return item;
  }
}

export function marketOf(token: string): string {
  return `0x${token.padStart(64, '0')}`;
}
