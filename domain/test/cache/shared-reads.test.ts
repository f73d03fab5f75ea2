import fc from 'fast-check';
import { SharedReads } from '../../src/cache/shared-reads.io.ts';

/** A store whose value is the time; a read takes a few ticks and returns when it began. */
class Store {
  nowTurn = 0;
  underWay = 0;
  mostUnderWay = 0;
  readonly #fails: (turn: number) => boolean;

  constructor(fails: (turn: number) => boolean) {
    this.#fails = fails;
  }

  async read(turns: number): Promise<number> {
    const began = this.nowTurn;
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
    this.underWay -= 1;
    if (this.#fails(began)) throw new Error(`began at ${began}`);
    return began;
  }
}

test('no answer is older than its request, and of a name one read is under way', async () => {
  const steps = fc.array(
    fc.record({ requests: fc.nat(4), turns: fc.integer({ min: 1, max: 5 }) }),
    {
      maxLength: 30,
    },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 2, max: 9 }), async (given, failing) => {
      const store = new Store((turn) => turn % failing === 0);
      const shared = new SharedReads<number>();
      const requested: Promise<void>[] = [];
      const beginnings = new Set<number>();
      let failures = 0;
      for (const { requests, turns } of given) {
        store.nowTurn += 1;
        const cameAt = store.nowTurn;
        for (let index = 0; index < requests; index += 1)
          requested.push(
            shared
              .read('one', () => store.read(turns))
              .then(
                (began) => {
                  beginnings.add(began);
                  expect(began).toBeGreaterThanOrEqual(cameAt);
                },
                (error: Error) => {
                  failures += 1;
                  expect(Number(error.message.slice('began at '.length))).toBeGreaterThanOrEqual(
                    cameAt,
                  );
                },
              ),
          );
        await new Promise(setImmediate);
      }
      await Promise.all(requested);
      expect(store.mostUnderWay).toBeLessThanOrEqual(1);
      expect(beginnings.size + failures > 0).toBe(requested.length > 0);
      // Nothing is left over: the next one begins at once.
      store.nowTurn += 1;
      const next = store.nowTurn;
      await shared
        .read('one', () => store.read(1))
        .then(
          (began) => expect(began).toBe(next),
          (error: Error) => expect(error.message).toBe(`began at ${next}`),
        );
    }),
  );
});

test('a hundred requests that come together share two reads, other names none of them', async () => {
  const shared = new SharedReads<string>();
  const begun: string[] = [];
  const read = (name: string) => async () => {
    begun.push(name);
    await new Promise(setImmediate);
    return name;
  };
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      const name = index % 2 === 0 ? 'even' : 'odd';
      return shared.read(name, read(name));
    }),
  );
  expect(answers.filter((answer) => answer === 'odd')).toHaveLength(100);
  expect(begun.toSorted()).toEqual(['even', 'even', 'odd', 'odd']);
});
