import { seeded } from '../../../kit/test/seeded.ts';
import {
  indexedChannels,
  MarketIndex,
  replayAgeMaxMs,
  replayMessagesMax,
  WalletIndex,
} from '../../src/feed/position-index.ts';

interface Marked {
  readonly inOffset: number;
  readonly timeMs: number;
  /** Numbers before the record, by channel. */
  readonly before: readonly number[];
}

/** Records with changes, with a random number of changes in each channel, and an index of them. */
function marked(seed: number, count: number, stepMs: number): [MarketIndex, readonly Marked[]] {
  const next = seeded(seed);
  const index = new MarketIndex();
  const all: Marked[] = [];
  const seqs = indexedChannels.map(() => 0);
  let [inOffset, timeMs] = [0, 0];
  for (let record = 0; record < count; record += 1) {
    inOffset += 1 + next(5);
    timeMs += next(stepMs);
    all.push({ inOffset, timeMs, before: [...seqs] });
    index.mark({ inOffset, offset: inOffset * 2, timeMs }, seqs);
    seqs.forEach((seq, at) => {
      seqs[at] = seq + next(at === 2 ? 4 : 2);
    });
  }
  return [index, all];
}

describe('MarketIndex', () => {
  it.each([
    [1, 20],
    [2, 3_000],
    [3, 200_000],
  ])(
    'finds a record not after the next change, near it, and within the hour, seed %d, steps of %d ms',
    (seed, stepMs) => {
      const [index, all] = marked(seed, 3_000, stepMs);
      const nowMs = all.at(-1)?.timeMs ?? 0;
      const sources = new Map(all.map((record) => [record.inOffset, record]));
      let found = 0;
      const wrong: unknown[] = [];
      for (const { before, timeMs } of all) {
        indexedChannels.forEach((channel, at) => {
          const seq = before[at] ?? 0;
          const row = index.beforeSeq(channel, seq, nowMs);
          if (row === null) {
            if (timeMs > nowMs - replayAgeMaxMs + 400_000) wrong.push([channel, seq, row]);
            return;
          }
          found += 1;
          const source = sources.get(row.inOffset);
          const isRight =
            source?.before[at] === row.seqBefore &&
            row.offset === row.inOffset * 2 &&
            row.seqBefore <= seq &&
            seq - row.seqBefore < 130 &&
            source.timeMs >= nowMs - replayAgeMaxMs;
          if (!isRight) wrong.push([channel, seq, row, source]);
        });
      }
      expect(wrong.slice(0, 3)).toEqual([]);
      expect(found).toBeGreaterThan(100);
      expect(new MarketIndex(index.cells()).cells()).toEqual(index.cells());
    },
  );

  it('forgets rows beyond their limit', () => {
    const index = new MarketIndex();
    for (let record = 0; record < 20_000; record += 1)
      index.mark({ inOffset: record, offset: record, timeMs: record }, [record * 64, 0, 0, 0]);
    expect(index.cells().length / 7).toBeLessThan(6_600);
    expect(index.beforeSeq('book', 64 * 10_000, 20_000)).toBeNull();
    expect(index.beforeSeq('book', 64 * 16_000 + 5, 20_000)?.inOffset).toBe(16_000);
  });

  it('reaches back by the limit for a channel whose market has more changes of the others', () => {
    const index = new MarketIndex();
    const changes = replayMessagesMax + 1_000;
    for (let seq = 0; seq < changes; seq += 1) {
      const others = [Math.floor(seq / 8), seq * 2, Math.floor(seq / 4)];
      index.mark({ inOffset: seq, offset: seq, timeMs: seq }, [seq, ...others]);
    }
    const row = index.beforeSeq('book', changes - replayMessagesMax, changes);
    expect(row?.seqBefore).toBeLessThanOrEqual(changes - replayMessagesMax);
  });
});

describe('WalletIndex', () => {
  it('reaches back to the first change with few rows, however many changes there are', () => {
    const index = new WalletIndex([0, 7, 8]);
    for (let record = 100; record < 200_000; record += 1)
      index.mark({ inOffset: record, offset: record + 1, timeMs: 0 }, record);
    expect(index.cells().length).toBeLessThanOrEqual(32 * 3);
    expect(index.beforeSeq(0)).toEqual({ seqBefore: 0, inOffset: 7, offset: 8 });
    for (const seq of [50_000, 77_777, 199_999]) {
      const row = index.beforeSeq(seq);
      expect(row.seqBefore).toBe(row.inOffset);
      expect(row.seqBefore).toBeLessThanOrEqual(seq);
      expect(seq - row.seqBefore).toBeLessThan(200_000 / 12);
    }
    expect(index.beforeOffset(77_777).inOffset).toBeLessThanOrEqual(77_777);
    expect(index.beforeOffset(3)).toEqual({ seqBefore: 0, inOffset: 7, offset: 8 });
  });
});
