import { Random } from '@pm/kit/random';
import type { Level } from '../src/feed/changes.ts';
import type { Message, StreamKey } from '../src/protocol/message.ts';
import { Outbox } from '../src/protocol/outbox.ts';
import { bookDelta } from '../src/protocol/render-book.ts';
import { checkDeclared, type Seen } from './stream-client.ts';

interface Reader {
  readonly key: StreamKey;
}

const readers: readonly Reader[] = [0, 1, 0].map((outcome, index) => ({
  key: {
    id: `book|${index}`,
    condition: `0x${'c'.repeat(64)}`,
    token: String(1_000 + index),
    outcome: outcome === 0 ? 0 : 1,
  },
}));

const timeMs = 1_780_315_200_000;

function delta(reader: Reader, seq: number, levels: readonly Level[]): Message {
  const at = { partition: 0, offset: seq, index: 0, timeMs };
  return bookDelta({ channel: 'book', market: 1, seq, at, levels }, reader.key);
}

function plain(reader: Reader, seq: number, isChecksum: boolean): Message {
  const at = { partition: 0, offset: seq, index: 0, timeMs };
  const bytes = Buffer.from(JSON.stringify({ note: isChecksum ? 'checksum' : 'other', seq }));
  return { bytes, seq, prev: seq, at, key: reader.key, content: null, isChecksum };
}

/** A book as a client keeps it: refuses a gap. */
class ClientBook {
  readonly levels = new Map<string, string>();
  seq = 0;

  apply(seen: Seen): void {
    if (seen['prev'] !== this.seq) throw new Error(`${String(seen['prev'])} after ${this.seq}`);
    this.seq = Number(seen['seq']);
    for (const { side, price, size } of seen['levels'] as {
      side: string;
      price: string;
      size: string;
    }[]) {
      if (size === '0') this.levels.delete(side + price);
      else this.levels.set(side + price, size);
    }
  }
}

const sorted = ({ levels }: ClientBook) => [...levels].sort();

function randomLevels(random: Random): readonly Level[] {
  return Array.from({ length: random.integer(1, 4) }, () => ({
    side: random.chance(0.5) ? 'BUY' : 'SELL',
    price: random.integer(1, 60) * 100,
    sizeMicro: random.chance(0.3) ? 0 : random.integer(1, 9) * 1_000_000,
  }));
}

/** Books that a reader makes of what it takes. */
class SlowReader {
  readonly books = new Map(readers.map((one) => [one, new ClientBook()]));
  merged = 0;
  took = 0;

  /** False when nothing waits. */
  take(outbox: Outbox<Reader>): boolean {
    const next = outbox.take();
    if (next === null) return false;
    const seen = JSON.parse(String(next.bytes)) as Seen;
    if (seen.type === undefined || next.subscription === null) return true;
    checkDeclared(seen);
    this.took += 1;
    if (next.message?.bytes.length === 0) this.merged += 1;
    this.books.get(next.subscription)?.apply(seen as Seen);
    return true;
  }
}

test.each([1, 2, 3, 4, 5])(
  'a slow reader has the same books as a fast one, without a gap (seed %i)',
  (seed) => {
    const random = new Random(seed);
    const outbox = new Outbox<Reader>(40_000);
    const slow = new SlowReader();
    const fast = new Map(readers.map((one) => [one, new ClientBook()]));
    for (let step = 0; step < 5_000; step += 1) {
      const reader = random.pick(readers);
      const book = fast.get(reader) as ClientBook;
      const message = delta(reader, book.seq + 1, randomLevels(random));
      book.apply(JSON.parse(String(message.bytes)) as Seen);
      let fits = outbox.add(message, reader);
      if (random.chance(0.05)) fits &&= outbox.add(plain(reader, book.seq, true), reader);
      if (!fits || outbox.bytes > 40_000) throw new Error('the bound was passed');
      // Now and then the reader takes a lot; otherwise less than comes.
      const takes = random.chance(0.002) ? 500 : random.below(2);
      for (let count = 0; count < takes; count += 1) slow.take(outbox);
    }
    while (slow.take(outbox));
    expect(slow.merged).toBeGreaterThan(10);
    expect(slow.took).toBeLessThan(5_000);
    expect(outbox.bytes).toBe(0);
    for (const [reader, book] of fast) {
      const rebuilt = slow.books.get(reader) as ClientBook;
      expect({ seq: rebuilt.seq, levels: sorted(rebuilt) }).toEqual({
        seq: book.seq,
        levels: sorted(book),
      });
    }
  },
);

test('what cannot be merged passes the bound and says so; one message alone always fits', () => {
  const outbox = new Outbox<Reader>(200);
  const [reader] = readers as [Reader];
  const large = { ...plain(reader, 1, false), bytes: Buffer.alloc(1_000) };
  expect(outbox.add(large, reader)).toBe(true);
  expect(outbox.add(plain(reader, 2, false), reader)).toBe(false);
});

test('a snapshot begins again: later deltas are not merged with those before it', () => {
  const outbox = new Outbox<Reader>(2_000);
  const [reader] = readers as [Reader];
  for (let seq = 1; seq <= 8; seq += 1) outbox.add(delta(reader, seq, [levelAt(seq)]), reader);
  outbox.add(plain(reader, 8, false), reader);
  for (let seq = 9; seq <= 12; seq += 1) outbox.add(delta(reader, seq, [levelAt(seq)]), reader);
  const order: string[] = [];
  for (let next = outbox.take(); next !== null; next = outbox.take()) {
    const seen = JSON.parse(String(next.bytes)) as Seen;
    order.push(
      seen.type === 'delta' ? `${String(seen['prev'])}-${String(seen['seq'])}` : 'snapshot',
    );
  }
  expect(order).toEqual(['0-8', 'snapshot', '8-12']);
});

test('a delta is merged into the one that waits, also after the places of taken ones were removed', () => {
  const outbox = new Outbox<Reader>(200_000);
  const [one, other] = readers as [Reader, Reader];
  const smallCount = 1_100;
  for (let seq = 1; seq <= smallCount; seq += 1) outbox.add(plain(one, seq, false), one);
  outbox.add({ ...plain(one, smallCount + 1, false), bytes: Buffer.from(`{"a":"${long}"}`) }, one);
  for (const seq of [1, 2]) outbox.add(delta(other, seq, [levelAt(seq)]), other);
  expect([outbox.items, outbox.merged]).toEqual([smallCount + 2, 1]);
  for (let taken = 0; taken < smallCount; taken += 1) outbox.take();
  outbox.add(delta(other, 3, [levelAt(3)]), other);
  expect([outbox.items, outbox.merged]).toEqual([2, 2]);
  outbox.take();
  expect(JSON.parse(String(outbox.take()?.bytes))).toMatchObject({ prev: 0, seq: 3 });
  expect(outbox.isEmpty).toBe(true);
});

const long = 'a'.repeat(120_000);

test('an ended subscription leaves nothing that waits', () => {
  const outbox = new Outbox<Reader>(2_000);
  const [one, other] = readers as [Reader, Reader];
  for (let seq = 1; seq <= 20; seq += 1) {
    outbox.add(delta(one, seq, [levelAt(1)]), one);
    outbox.add(delta(other, seq, [levelAt(1)]), other);
  }
  outbox.forget(one);
  for (let next = outbox.take(); next !== null; next = outbox.take()) {
    expect(next.subscription).toBe(other);
  }
  expect(outbox.bytes).toBe(0);
});

function levelAt(price: number): Level {
  return { side: 'BUY', price: price * 100, sizeMicro: 1_000_000 };
}
