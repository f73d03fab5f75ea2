import { readNewest } from '../../src/tables/read-pieces.io.ts';

/** Rows of a table in memory, as times in seconds; a page is what a query for them would answer. */
const until = 100_000_000;
const day = 86_400;
const pageOf =
  (times: readonly number[], { limit, offset }: { limit: number; offset: number }) =>
  (requested: number[]) =>
  async (sinceS: number) => {
    requested.push(sinceS);
    const newest = times.filter((time) => time >= sinceS).sort((one, other) => other - one);
    return newest.slice(offset, offset + limit);
  };

describe('a page of the newest rows', () => {
  test('is the same as one of everything, whatever the times and the page', async () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const times = Array.from(
        { length: (seed * 7) % 40 },
        (_, index) => until - Math.floor(((seed * 31 + index * 977) % 1_000) ** 2 * 9),
      );
      const page = { limit: 1 + (seed % 9), offset: (seed * 3) % 11 };
      const sinceS = seed % 3 === 0 ? until - (seed % 50) * day : null;
      const read = pageOf(times, page);
      const expected = await read([])(sinceS ?? 0);
      expect(await readNewest({ limit: page.limit, untilS: until, sinceS }, read([]))).toEqual(
        expected,
      );
    }
  });

  test('that the last day fills is looked for there alone', async () => {
    const requested: number[] = [];
    const read = pageOf([until - 1, until - 2, until - 40 * day], { limit: 2, offset: 0 })(
      requested,
    );
    await readNewest({ limit: 2, untilS: until, sinceS: null }, read);
    expect(requested).toEqual([until - day]);
  });

  test('that nothing fills is looked for no earlier than requested for', async () => {
    const requested: number[] = [];
    const read = pageOf([], { limit: 2, offset: 0 })(requested);
    await readNewest({ limit: 2, untilS: until, sinceS: until - 2 * day }, read);
    expect(requested).toEqual([until - day, until - 2 * day]);
  });
});
