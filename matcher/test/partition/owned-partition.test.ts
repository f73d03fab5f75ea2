import { checkpointEveryRecords } from '@pm/schemas/log/executions';
import { runLength } from '../../../kit/test/long-runs.ts';
import { engines, MatcherProcess, snapshotFolder, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import {
  codecs,
  keys,
  openingRecords,
  partition,
  randomRecords,
  sealed,
} from './sealed-records.ts';

const seed = 20_261_121;

function logOf(records: readonly (Buffer | null)[]): MemoryLog {
  const log = new MemoryLog();
  for (const record of records) log.append(topicNames.orders, record);
  return log;
}

describe('an owned partition', () => {
  test('gives exactly one output per input, numbered and chained', async () => {
    const records = [...openingRecords(), ...randomRecords(seed, 500)];
    const log = logOf(records);
    const process = new MatcherProcess(log);
    await process.run();
    const { executions, copies } = readOutputs(log);
    expect(copies).toBe(0);
    expect(executions).toHaveLength(records.length);
    expect(executions.map(({ inOffset }) => inOffset)).toEqual([...records.keys()]);
    const kinds = new Set(executions.flatMap(({ events }) => events.map(({ kind }) => kind)));
    for (const kind of ['Fill', 'OrderPlaced', 'OrderCanceled', 'MoneyMoved', 'LevelChanged']) {
      expect(kinds).toContain(kind);
    }
    expect(kinds).not.toContain('RecordRejected');
  });

  test('copies key id and sequence of the input', async () => {
    const log = logOf([...openingRecords(), sealed(keys.ingress, [])]);
    await new MatcherProcess(log).run();
    const last = readOutputs(log).executions.at(-1);
    const input = codecs.orders.decode(log.records(topicNames.orders)[2]?.value ?? Buffer.alloc(0));
    expect(last?.keyId).toEqual(keys.ingress.keyId);
    expect(last?.sequence).toBe(input.sequence);
  });

  test('shows its position in its status', async () => {
    const records = [...openingRecords(), ...randomRecords(seed, 60)];
    const log = logOf(records);
    const process = new MatcherProcess(log);
    expect(process.owned.status()).toMatchObject({ state: 'released', inOffset: -1, chain: '' });
    await process.run();
    const { executions } = readOutputs(log);
    expect(process.owned.status()).toMatchObject({
      state: 'live',
      inOffset: records.length - 1,
      outOffset: records.length - 1,
      lagRecords: 0,
      timeMs: executions.at(-1)?.timeMs,
      chain: executions.at(-1)?.chain.toString('hex'),
    });
    expect(process.owned.status().markets).toBeGreaterThan(0);
    await process.owned.stop();
    expect(process.owned.status()).toMatchObject({ state: 'released', chain: '' });
  });

  test('a replay through a checkpoint ends with the same chain', async () => {
    const begin = [...openingRecords(), ...randomRecords(seed, 20)];
    const end = randomRecords(seed + 1, 40);
    // One of another partition takes no check of a signature.
    const filler = sealed(keys.ingress, [], partition + 1);
    const fillers = Array<Buffer>(checkpointEveryRecords - begin.length - end.length / 2);
    const log = logOf([...begin, ...fillers.fill(filler), ...end]);
    log.batchRecords = 1_000;
    const first = new MatcherProcess(log, { snapshotEveryRecords: 9_000 });
    await first.restore();
    // Its only snapshot, before the checkpoint, has the hash that the checkpoint shows.
    await first.catchUp();
    const { executions } = readOutputs(log);
    expect(executions[checkpointEveryRecords]?.events.at(-1)?.kind).toBe('Checkpoint');
    const chain = executions.at(-1)?.chain.toString('hex');
    for (const files of [first.files, new MemoryFiles()]) {
      const successor = new MatcherProcess(log, { files, verifyReplay: true });
      await successor.run();
      const snapshotOffset = files === first.files ? expect.any(Number) : 0;
      expect(successor.owned.status()).toMatchObject({ chain, snapshotOffset });
    }
    expect(first.files.names(snapshotFolder).length).toBe(1);
  }, 240_000);

  test('repeats a send whose records were not written, in order', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 40)]);
    log.verdict = () => (log.sends % 3 === 0 ? 'refuse' : 'store');
    await new MatcherProcess(log).run();
    expect(readOutputs(log)).toMatchObject({ copies: 0, executions: { length: 42 } });
  });

  test('stops the partition after the last try, and no later output is written', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 40)]);
    log.verdict = () => (log.sends > 4 ? 'refuse' : 'store');
    const process = new MatcherProcess(log);
    await expect(process.run()).rejects.toMatchObject({ code: 'send_given_up' });
    expect(process.owned.state).toBe('failed');
    const stored = readOutputs(log).executions.length;
    log.verdict = () => 'store';
    await process.run();
    expect(process.owned.state).toBe('live');
    expect(readOutputs(log)).toMatchObject({ copies: 0, executions: { length: 42 } });
    expect(stored).toBeLessThan(42);
  });

  test('refuses batches while it is not live', async () => {
    const process = new MatcherProcess(logOf([]));
    const batch = { records: [{ offset: 0, value: null }], highWatermark: 1 };
    await expect(process.owned.process(batch)).rejects.toMatchObject({ code: 'not_live' });
  });

  test('a gap in the input stops the partition', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 3)]);
    const process = new MatcherProcess(log);
    await process.restore();
    const records = log.records(topicNames.orders).slice(1);
    await expect(process.owned.process({ records, highWatermark: 5 })).rejects.toMatchObject({
      code: 'input_gap',
      reaction: 'release',
      facts: { expected: 0, found: 1 },
    });
    expect(process.owned.state).toBe('failed');
  });

  test('an engine that throws stops its partition, not the process', async () => {
    const log = logOf(openingRecords());
    const broken = {
      ...engines,
      create: (number: number) => {
        const engine = engines.create(number);
        engine.apply = () => {
          throw new Error('broken');
        };
        return engine;
      },
    };
    const process = new MatcherProcess(log, { engines: broken });
    await expect(process.run()).rejects.toMatchObject({
      code: 'engine_broken',
      reaction: 'release',
      facts: { inOffset: 0 },
    });
  });
});

describe('two owners of one partition', () => {
  const rounds = runLength({ test: 3, deep: 20 });

  /** Goes on as the group does: the partition of an owner that was replaced is restored. */
  async function outlive(process: MatcherProcess): Promise<number> {
    for (let releases = 0; releases < 100; releases += 1) {
      try {
        await process.catchUp();
        return releases;
      } catch (error) {
        if ((error as { code?: string }).code !== 'owner_replaced') throw error;
        await process.restore();
      }
    }
    throw new Error('the owners replace each other for ever');
  }

  test('write the same bytes, and a reader sees each output once', async () => {
    let releases = 0;
    for (let round = 0; round < rounds; round += 1) {
      const log = logOf([...openingRecords(), ...randomRecords(seed + round, 60)]);
      log.batchRecords = 1 + (round % 9);
      const [one, other] = [new MatcherProcess(log), new MatcherProcess(log)];
      await Promise.all([one.restore(), other.restore()]);
      const [first, second] = await Promise.all([outlive(one), outlive(other)]);
      releases += first + second;
      expect(readOutputs(log).executions).toHaveLength(62);
      expect(one.owned.status().chain).toBe(other.owned.status().chain);
    }
    expect(releases).toBeGreaterThan(0);
  });

  test('copies of a replaced owner between the outputs of this one change nothing', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 60)]);
    const process = new MatcherProcess(log);
    await process.run();
    for (const at of [10, 11, 12]) {
      log.append(topicNames.executions, log.records(topicNames.executions)[at]?.value ?? null);
    }
    log.append(topicNames.orders, sealed(keys.ingress, []));
    await process.catchUp();
    expect(process.owned.status()).toMatchObject({ state: 'live', outOffset: 62 + 3 });
    expect(readOutputs(log)).toMatchObject({ copies: 3, executions: { length: 63 } });
  });

  test('an owner stops when another one has written the same outputs', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 20)]);
    const replaced = new MatcherProcess(log);
    await replaced.run();
    log.append(topicNames.orders, sealed(keys.ingress, []));
    await new MatcherProcess(log).run();
    await expect(replaced.catchUp()).rejects.toMatchObject({
      code: 'owner_replaced',
      reaction: 'release',
      facts: { expected: 22, found: 23, inOffset: 22, newest: 22 },
    });
    expect(replaced.owned.state).toBe('failed');
  });

  test('the next owner starts from a late copy at the tail and only writes copies', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 60)]);
    const first = new MatcherProcess(log);
    await first.run();
    for (const at of [10, 11, 12]) {
      log.append(topicNames.executions, log.records(topicNames.executions)[at]?.value ?? null);
    }
    const successor = new MatcherProcess(log);
    await successor.run();
    expect(readOutputs(log)).toMatchObject({ copies: 3 + 62 - 13, executions: { length: 62 } });
    // With a snapshot after the copy, it starts from the snapshot.
    const other = new MatcherProcess(log, { files: first.files });
    await other.run();
    expect(other.owned.status().chain).toBe(successor.owned.status().chain);
  });
});

describe('a log that lost its newest outputs', () => {
  test('stops the owner at its next output, and is not continued by any owner', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 60)]);
    const process = new MatcherProcess(log);
    await process.run();
    log.truncateFrom(topicNames.executions, 50);
    log.append(topicNames.orders, sealed(keys.ingress, []));
    await expect(process.catchUp()).rejects.toMatchObject({
      code: 'outputs_truncated',
      reaction: 'release',
      facts: { expected: 62, found: 50 },
    });
    const length = log.records(topicNames.executions).length;
    for (const owner of [process, new MatcherProcess(log)]) {
      await expect(owner.restore()).rejects.toMatchObject({
        code: 'execution_gap',
        reaction: 'release',
        facts: { missing: 12, inOffset: 62 },
      });
    }
    expect(log.records(topicNames.executions)).toHaveLength(length);
  });

  test('gets them back from the next owner when nothing was written after them', async () => {
    const log = logOf([...openingRecords(), ...randomRecords(seed, 60)]);
    const process = new MatcherProcess(log);
    await process.run();
    const { chain } = process.owned.status();
    log.truncateFrom(topicNames.executions, 50);
    const successor = new MatcherProcess(log);
    await successor.run();
    expect(successor.owned.status().chain).toBe(chain);
    expect(readOutputs(log)).toMatchObject({ copies: 0, executions: { length: 62 } });
  });
});
