import { Random } from '@pm/kit/random';
import fc from 'fast-check';
import { firstSeed, runLength } from '../../../kit/test/long-runs.ts';
import { MatcherProcess, snapshotFolder, topicNames } from './matcher-process.ts';
import { type FileStep, fileSteps, MemoryFiles } from './memory-files.ts';
import { MemoryLog, type SendResult } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { openingRecords, randomRecords } from './sealed-records.ts';

const count = 90;
const records = [...openingRecords(), ...randomRecords(77, count - 2)];

function logOf(values: readonly Buffer[] = records): MemoryLog {
  const log = new MemoryLog();
  for (const value of values) log.append(topicNames.orders, value);
  return log;
}

/** The chain at the end when nothing ever fails. */
async function undisturbed(values: readonly Buffer[] = records): Promise<string> {
  const process = new MatcherProcess(logOf(values));
  await process.run();
  return process.owned.status().chain;
}

/** The next owner after a killed process, restored from the same log and disk. */
async function successorOf(log: MemoryLog, files: MemoryFiles): Promise<MatcherProcess> {
  log.verdict = () => 'store';
  files.dead = false;
  files.before = () => {};
  const successor = new MatcherProcess(log, { files, verifyReplay: true });
  await successor.run();
  return successor;
}

/** Each test has many crashes; how long that takes depends on the machine. */
jest.setTimeout(240_000);

describe('a killed process', () => {
  const few = records.slice(0, runLength({ test: 20, deep: count }));
  const histories = runLength({ test: 8, deep: 60 });

  // Before the send; after the send and before its acknowledgement: at each send of the run.
  test.each<SendResult>(['lose', 'store_and_lose_answer'])(
    'at any send (%s): the next owner ends with the same chain',
    async (verdict) => {
      const chain = await undisturbed(few);
      const sends = logOf(few);
      await new MatcherProcess(sends).run();
      for (let at = 1; at <= sends.sends; at += 1) {
        const log = logOf(few);
        log.verdict = () => (log.sends === at ? verdict : 'store');
        const files = new MemoryFiles();
        await expect(new MatcherProcess(log, { files }).run()).rejects.toMatchObject({
          code: 'send_outcome_unknown',
        });
        const successor = await successorOf(log, files);
        expect(successor.owned.status()).toMatchObject({ state: 'live', chain });
        expect(readOutputs(log).executions).toHaveLength(few.length);
      }
    },
  );

  test.each(fileSteps.flatMap((step) => [1, 2, 3].map((nth) => [step, nth] as const)))(
    'inside a snapshot, at %s number %i: the next owner ends with the same chain',
    async (step: FileStep, nth: number) => {
      const log = logOf();
      const files = new MemoryFiles();
      let seen = 0;
      files.before = (now) => {
        if (now !== step) return;
        seen += 1;
        if (seen < nth) return;
        files.dead = true;
        throw new Error('killed');
      };
      await new MatcherProcess(log, { files }).run();
      expect(files.dead).toBe(true);
      const before = files.names(snapshotFolder).filter((name) => name.endsWith('.tmp'));
      const successor = await successorOf(log, files);
      expect(successor.owned.status().chain).toBe(await undisturbed());
      expect(readOutputs(log).copies).toBe(0);
      expect(files.names(snapshotFolder).filter((name) => before.includes(name))).toEqual([]);
    },
  );

  test('after its outputs were stored and before their snapshot: the older one is used', async () => {
    const log = logOf();
    const files = new MemoryFiles();
    await new MatcherProcess(log, { files, snapshotEveryRecords: 20 }).run();
    const newest = files.names(snapshotFolder).sort().at(-1);
    files.contents.delete(`${snapshotFolder}/${newest}`);
    const successor = await successorOf(log, files);
    expect(successor.owned.status().chain).toBe(await undisturbed());
    expect(successor.owned.status().snapshotOffset).toBeGreaterThan(0);
  });

  test('any history of crashes, lost acknowledgements and full disks ends with the same chain', async () => {
    const chain = await undisturbed();
    const life = fc.record({
      sends: fc.integer({ min: 1, max: 12 }),
      verdict: fc.constantFrom<SendResult>('lose', 'store_and_lose_answer', 'refuse'),
      fileStep: fc.constantFrom(...fileSteps),
      fileSteps: fc.integer({ min: 0, max: 9 }),
      snapshotEvery: fc.integer({ min: 1, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(life, { maxLength: 6 }), async (lives) => {
        const log = logOf();
        const files = new MemoryFiles();
        for (const one of lives) {
          const last = log.sends + one.sends;
          log.verdict = () => (log.sends >= last ? one.verdict : 'store');
          let left = one.fileSteps;
          files.before = (step) => {
            left -= step === one.fileStep ? 1 : 0;
            if (left < 0) throw new Error('ENOSPC');
          };
          const options = { files, snapshotEveryRecords: one.snapshotEvery };
          await new MatcherProcess(log, options).run().catch(() => {});
        }
        const successor = await successorOf(log, files);
        expect(successor.owned.status().chain).toBe(chain);
        expect(readOutputs(log).executions).toHaveLength(count);
        expect(successor.badSnapshots).toEqual([]);
      }),
      { numRuns: histories, seed: firstSeed(4) },
    );
  });
});

describe('slices that are computed while one is sent', () => {
  const seeds = runLength({ test: 3, deep: 25 });
  const fates = [
    'store',
    'store',
    'store',
    'store',
    'refuse',
    'lose',
    'store_and_lose_answer',
  ] as const;

  /** Goes on as the group does: after a fault the partition is restored from the log. */
  async function outlive(process: MatcherProcess): Promise<number> {
    for (let failures = 0; failures < 1_000; failures += 1) {
      try {
        await process.run();
        return failures;
      } catch {
        // Restored by the next attempt.
      }
    }
    throw new Error('fails for ever');
  }

  test('end with the same outputs in the same order, whatever happens to each send', async () => {
    const chain = await undisturbed();
    let [failures, sends] = [0, 0];
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = new Random(seed);
      const log = logOf();
      log.batchRecords = random.integer(1, 30);
      log.turns = () => random.below(6);
      log.verdict = () => random.pick(fates);
      const process = new MatcherProcess(log, {
        recordsPerSlice: random.integer(1, 4),
        snapshotEveryRecords: random.integer(1, 40),
        writerLimits: {
          slicesMax: random.integer(1, 6),
          sendOutputsMax: random.integer(1, 12),
        },
        restTurns: 80,
      });
      failures += await outlive(process);
      sends += log.sends;
      expect(process.owned.status()).toMatchObject({ state: 'live', chain });
      expect(readOutputs(log).executions).toHaveLength(count);
    }
    expect(failures).toBeGreaterThan(seeds);
    expect(sends).toBeGreaterThan(10 * seeds);
  });
});

describe('a released partition', () => {
  test('is saved as a snapshot, so that the next owner replays nothing', async () => {
    const log = logOf();
    const files = new MemoryFiles();
    const first = new MatcherProcess(log, { files, snapshotEveryRecords: 1_000_000 });
    await first.run();
    await first.owned.stop();
    const successor = await successorOf(log, files);
    expect(successor.owned.status()).toMatchObject({
      snapshotOffset: count,
      chain: await undisturbed(),
    });
  });

  test('finishes a snapshot that is being written', async () => {
    const log = logOf();
    log.batchRecords = count;
    const files = new MemoryFiles();
    const process = new MatcherProcess(log, {
      files,
      snapshotEveryRecords: count,
      recordsPerSlice: count,
    });
    await process.restore();
    const batch = log.records(topicNames.orders);
    await process.owned.process({ records: batch, highWatermark: count });
    await process.owned.stop();
    expect(files.names(snapshotFolder)).toEqual([`${count}.snapshot`]);
  });

  test('is released without a last snapshot while the disk hangs', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const files = new MemoryFiles();
      files.rename = () => new Promise(() => {});
      const process = new MatcherProcess(logOf(), { files, snapshotEveryRecords: 1_000_000 });
      await process.run();
      const stopping = process.owned.stop();
      await jest.advanceTimersByTimeAsync(60_000);
      await stopping;
      expect(process.owned.state).toBe('released');
      expect(files.names(snapshotFolder).filter((name) => name.endsWith('.snapshot'))).toEqual([]);
    } finally {
      jest.useRealTimers();
    }
  });

  test('ends a restore that is no longer wanted', async () => {
    const log = logOf(Array.from({ length: 10 }, () => records).flat());
    await new MatcherProcess(log).run();
    const successor = new MatcherProcess(log);
    successor.wanted = false;
    await expect(successor.restore()).rejects.toMatchObject({ code: 'restore_ended' });
    await successor.owned.stop();
    expect(successor.owned.state).toBe('released');
  });

  test('takes no snapshot of a state whose outputs are not stored', async () => {
    const log = logOf();
    const files = new MemoryFiles();
    log.verdict = () => (log.sends > 2 ? 'lose' : 'store');
    const process = new MatcherProcess(log, { files, snapshotEveryRecords: 1 });
    await process.run().catch(() => {});
    await process.owned.stop();
    expect(process.owned.state).toBe('released');
    const stored = readOutputs(log).executions.length;
    const offsets = files.names(snapshotFolder).map((name) => Number.parseInt(name, 10));
    expect(Math.max(...offsets)).toBeLessThanOrEqual(stored);
  });

  test('writes no snapshot when only the clock moved', async () => {
    const log = logOf();
    const files = new MemoryFiles();
    const first = new MatcherProcess(log, { files });
    await first.run();
    await first.owned.stop();
    const before = files.names(snapshotFolder);
    const second = new MatcherProcess(log, { files });
    await second.restore();
    second.owned.publishDueTick();
    await second.catchUp();
    await second.owned.stop();
    expect(log.records(topicNames.orders)).toHaveLength(count + 1);
    expect(files.names(snapshotFolder)).toEqual(before);
  });
});
