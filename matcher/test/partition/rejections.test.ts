import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { openRecordCodec } from '@pm/kit/registry';
import { toAvroJson } from '@pm/schemas/avro/schema';
import { deadLetterValueMaxBytes } from '@pm/schemas/log/accounts';
import { newestRules } from '@pm/schemas/log/log-rules';
import { type Command, type Envelope, ownerIdBytes } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { runLength } from '../../../kit/test/long-runs.ts';
import { UsedSequences } from '../../src/core/rules/used-sequences.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { marketRules } from '../core/commands.ts';
import { MatcherProcess, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import {
  codecs,
  keys,
  openingCommand,
  openingRecords,
  partition,
  randomRecords,
  sealed,
} from './sealed-records.ts';

const tick: Command = { kind: 'Tick', term: 0, timeMs: 1_700_000_000_500 };
const claim: Command = { kind: 'ClaimPartition', term: 1, owner: Buffer.alloc(ownerIdBytes, 1) };
const retire: Command = {
  kind: 'SetKey',
  publicKey: keys.ingress.publicKey,
  role: 'INGRESS',
  active: false,
};

function flipped(value: Buffer, at: number): Buffer {
  const copy = Buffer.from(value);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Rejections of the records that follow these, by reason. */
async function reasonsOf(records: readonly (Buffer | null)[]): Promise<readonly string[]> {
  const log = new MemoryLog();
  for (const record of records) log.append(topicNames.orders, record);
  await new MatcherProcess(log).run();
  return readOutputs(log).executions.map(({ events: [event] }) =>
    event?.kind === 'RecordRejected' ? event.reason : 'taken',
  );
}

describe('rejections', () => {
  const opened = openingRecords();
  const afterOpening = async (...records: (Buffer | null)[]) =>
    (await reasonsOf([...opened, ...records])).slice(opened.length);

  test.each<[string, () => Buffer | null, string]>([
    ['no value', () => null, 'UNREADABLE'],
    ['no bytes', () => Buffer.alloc(0), 'UNREADABLE'],
    ['garbage', () => Buffer.from('not an envelope at all'), 'UNREADABLE'],
    ['another magic byte', () => flipped(sealed(keys.ingress, []), 0), 'UNREADABLE'],
    ['an unregistered schema', () => flipped(sealed(keys.ingress, []), 1), 'BAD_SIGNATURE'],
    ['an endless varint', () => Buffer.alloc(200, 0xff).fill(0, 0, 1), 'UNREADABLE'],
    ['another partition', () => sealed(keys.ingress, [], partition + 1), 'WRONG_PARTITION'],
    ['a key that is not set', () => sealed(keys.stranger, [tick]), 'UNKNOWN_KEY'],
    [
      'a flipped bit in the signature',
      () => flipped(sealed(keys.owner, [tick]), 9),
      'BAD_SIGNATURE',
    ],
    [
      'a flipped bit after the signature',
      () => flipped(sealed(keys.owner, [tick]), 90),
      'BAD_SIGNATURE',
    ],
    ['a market of an ingress', () => sealed(keys.ingress, [marketRules(1)]), 'NOT_ALLOWED'],
    ['a key set by an owner', () => sealed(keys.owner, [retire]), 'NOT_ALLOWED'],
    ['a claim before the rules allow it', () => sealed(keys.owner, [claim]), 'NOT_ALLOWED'],
  ])('rejects %s', async (_, record, reason) => {
    expect(await afterOpening(record())).toEqual([reason]);
  });

  test('claims are those of owners alone', async () => {
    const log = new MemoryLog();
    for (const record of openingRecords(newestRules)) log.append(topicNames.orders, record);
    for (const key of [keys.ingress, keys.operator, keys.stranger, keys.owner])
      log.append(topicNames.orders, sealed(key, [claim]));
    const process = new MatcherProcess(log, { ownerId: Buffer.alloc(ownerIdBytes, 1) });
    await process.run();
    const reasons = readOutputs(log).executions.map(({ events: [event] }) =>
      event?.kind === 'RecordRejected' ? event.reason : 'taken',
    );
    expect(reasons.slice(2)).toEqual(['NOT_ALLOWED', 'NOT_ALLOWED', 'UNKNOWN_KEY', 'taken']);
    expect(process.owned.status()).toMatchObject({ role: 'owner', term: 1 });
  });

  test('goes on after a rejected record', async () => {
    const order = sealed(keys.owner, [tick]);
    expect(await afterOpening(null, order, null)).toEqual(['UNREADABLE', 'taken', 'UNREADABLE']);
  });

  test('a retired key is unknown from its retirement on', async () => {
    const empty = () => sealed(keys.ingress, []);
    const found = await afterOpening(empty(), sealed(keys.operator, [retire]), empty());
    expect(found).toEqual(['taken', 'taken', 'UNKNOWN_KEY']);
  });

  test('signed bytes that are no commands are unreadable', async () => {
    const broken = sealEnvelope(
      {
        fingerprint: codecs.orders.fingerprint,
        encode: (value) => Buffer.concat([codecs.orders.encode(value), Buffer.from([7])]),
      },
      keys.ingress,
      { partition, sequence: 1_000_000, commands: [] },
    );
    expect(await afterOpening(broken)).toEqual(['UNREADABLE']);
  });

  test('copies rejected records to the dead letters, cut, and not again in a replay', async () => {
    const log = new MemoryLog();
    const long = Buffer.alloc(deadLetterValueMaxBytes + 100, 0xee);
    for (const record of [...opened, long, null]) log.append(topicNames.orders, record);
    await new MatcherProcess(log).run();
    await new MatcherProcess(log).run();
    const letters = log
      .records(topicNames.deadLetters)
      .map(({ value }) => codecs.deadLetters.decode(value ?? Buffer.alloc(0)));
    const common = { topic: 'orders', partition, reader: 'matcher', reason: 'UNREADABLE' };
    expect(letters).toEqual([
      { ...common, offset: 2, value: long.subarray(0, deadLetterValueMaxBytes) },
      { ...common, offset: 3, value: Buffer.alloc(0) },
    ]);
  });

  test('a flood of long poison goes to the dead letters in sends below the limit of the topic', async () => {
    const log = new MemoryLog();
    log.batchRecords = 100;
    for (const record of opened) log.append(topicNames.orders, record);
    for (let index = 0; index < 60; index += 1) {
      log.append(topicNames.orders, Buffer.alloc(100_000, 0xee));
    }
    const sizes: number[] = [];
    log.verdict = (records) => {
      const letters = records.filter(({ topic }) => topic === topicNames.deadLetters);
      sizes.push(letters.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
      return 'store';
    };
    await new MatcherProcess(log, { recordsPerSlice: 500 }).run();
    expect(log.records(topicNames.deadLetters)).toHaveLength(60);
    expect(Math.max(...sizes)).toBeLessThan(topics.deadLetters.maxMessageBytes * 0.6);
  });

  test('the output of a rejected record waits for its dead letter', async () => {
    const log = new MemoryLog();
    for (const record of [...opened, null]) log.append(topicNames.orders, record);
    log.verdict = ([first]) => (first?.topic === topicNames.deadLetters ? 'lose' : 'store');
    const process = new MatcherProcess(log);
    await expect(process.run()).rejects.toMatchObject({ code: 'send_outcome_unknown' });
    expect(log.records(topicNames.executions)).toHaveLength(0);
  });
});

describe('opening', () => {
  const other = openSignOffKey(Buffer.alloc(32, 9));
  const ownOpening: Command = { ...openingCommand, operatorKey: other.publicKey } as Command;

  test('nothing counts before the opening, which need not be the first record', async () => {
    const early = sealed(keys.ingress, []);
    const records = [early, sealed(keys.operator, [tick]), ...openingRecords(), null];
    expect(await reasonsOf(records)).toEqual([
      'NOT_OPENED',
      'NOT_OPENED',
      'taken',
      'taken',
      'UNREADABLE',
    ]);
  });

  test('refuses an opening by another operator', async () => {
    expect(await reasonsOf([sealed(other, [ownOpening])])).toEqual(['NOT_OPENED']);
  });

  test('refuses an opening that names another operator than the signer', async () => {
    expect(await reasonsOf([sealed(keys.operator, [ownOpening])])).toEqual(['NOT_OPENED']);
  });

  test('refuses a forged signature of the operator', async () => {
    const forged = flipped(sealed(keys.operator, [openingCommand]), 20);
    expect(await reasonsOf([forged])).toEqual(['BAD_SIGNATURE']);
  });

  test('an opening carries only what an operator may do', async () => {
    const mixed = sealed(keys.operator, [openingCommand, tick]);
    expect(await reasonsOf([mixed])).toEqual(['NOT_ALLOWED']);
  });

  test('a process that trusts another operator stops where its outputs differ from the stored ones', async () => {
    const log = new MemoryLog();
    for (const record of openingRecords()) log.append(topicNames.orders, record);
    await new MatcherProcess(log).run();
    const wrong = new MatcherProcess(log, { operatorKey: other.publicKey });
    await expect(wrong.run()).rejects.toMatchObject({ code: 'chain_mismatch' });
    expect(wrong.owned.state).toBe('failed');
  });

  test('a process that trusts another operator does not continue from a snapshot', async () => {
    const log = new MemoryLog();
    const files = new MemoryFiles();
    for (const record of openingRecords()) log.append(topicNames.orders, record);
    const right = new MatcherProcess(log, { files });
    await right.run();
    await right.owned.stop();
    const wrong = new MatcherProcess(log, { files, operatorKey: other.publicKey });
    await expect(wrong.run()).rejects.toMatchObject({ code: 'operator_differs' });
  });
});

describe('newer records', () => {
  const commandSchema = topics.orders.value.fields[4].type.items;
  const sing = {
    type: 'record',
    name: 'Sing',
    doc: 'A command of a later version.',
    fields: [{ name: 'song', type: 'string', doc: 'The song.' }],
  } as const;
  const newer = {
    ...topics.orders.value,
    fields: [
      ...topics.orders.value.fields.slice(0, 4),
      {
        name: 'commands',
        doc: 'As of a later version.',
        type: {
          type: 'array',
          items: { ...commandSchema, branches: [...commandSchema.branches, sing] },
        },
      },
    ],
  } as unknown as typeof topics.orders.value;
  const newerCodec = openRecordCodec(newer, 7, async () => null);
  const newerSealing = {
    fingerprint: newerCodec.fingerprint,
    encode: (value: Envelope) => newerCodec.encode(value),
  };
  const oldCodec = openRecordCodec(topics.orders.value, 1, async () => toAvroJson(newer));
  const singing = (key: SignOffKey) =>
    sealEnvelope(newerSealing, key, {
      partition,
      sequence: 1,
      commands: [{ kind: 'Sing', song: 'la' } as unknown as Command],
    });
  const known: Parameters<EnvelopeReader['read']>[0] = {
    opened: true,
    operatorKey: () => keys.operator.publicKey,
    rules: newestRules,
    newestRules,
    timeMs: 0,
    witnessMs: 0,
    signOffKey: (keyId) =>
      keyId.equals(keys.ingress.keyId)
        ? {
            publicKey: keys.ingress.publicKey,
            role: 'INGRESS',
            active: true,
            used: new UsedSequences(),
          }
        : null,
  };
  const readerWith = (codec: typeof oldCodec) =>
    new EnvelopeReader({ partition, operatorKey: keys.operator.publicKey, codec });

  test('a signed command of a later version stops the partition instead of being rejected', async () => {
    const reader = readerWith(oldCodec);
    const value = singing(keys.ingress);
    expect(reader.read(known, value)).toEqual({ kind: 'schema_unknown' });
    await oldCodec.prepare(value);
    expect(() => reader.read(known, value)).toThrow(
      expect.objectContaining({ code: 'newer_record', reaction: 'release' }),
    );
  });

  test('a sender without a key can neither pass for a later version nor cause a request to the registry', () => {
    const asked: number[] = [];
    const codec = openRecordCodec(topics.orders.value, 1, async (id) => {
      asked.push(id);
      return null;
    });
    expect(readerWith(codec).read(known, singing(keys.stranger))).toMatchObject({
      kind: 'rejected',
      reason: 'UNKNOWN_KEY',
    });
    expect(asked).toEqual([]);
  });

  test('rules of a later version stop the partition', () => {
    const reader = readerWith(oldCodec);
    const version = newestRules + 1;
    const key = { publicKey: keys.operator.publicKey, role: 'OPERATOR', active: true } as const;
    const operated = { ...known, signOffKey: () => ({ ...key, used: new UsedSequences() }) };
    const value = sealed(keys.operator, [{ kind: 'SetRules', version }]);
    const facts = { partition, schemaId: 1, rules: version, newestKnown: newestRules };
    expect(() => reader.read(operated, value)).toThrow(
      expect.objectContaining({ code: 'newer_record', reaction: 'release', facts }),
    );
  });

  test('rules of a later version that a key of a service signs are rejected and stop nothing', () => {
    const reader = readerWith(oldCodec);
    const version = newestRules + 1;
    for (const role of ['OPERATOR', 'INGRESS', 'OWNER', 'LEDGER'] as const) {
      const key = { publicKey: keys.stranger.publicKey, role, active: true };
      const listed = { ...known, signOffKey: () => ({ ...key, used: new UsedSequences() }) };
      const value = sealed(keys.stranger, [{ kind: 'SetRules', version }]);
      expect(reader.read(listed, value)).toMatchObject({ reason: 'NOT_ALLOWED' });
    }
  });

  test('a later version whose commands are all known is read', async () => {
    const reader = readerWith(oldCodec);
    const value = sealEnvelope(newerSealing, keys.ingress, {
      partition,
      sequence: 5,
      commands: [],
    });
    await oldCodec.prepare(value);
    expect(reader.read(known, value)).toMatchObject({ kind: 'accepted', sender: { sequence: 5 } });
  });
});

describe('poison', () => {
  const records = runLength({ test: 2_500, deep: 100_000 });

  /** Mutations of sealed records: flips, cuts, growth, splices; each breaks the seal or the header. */
  function mutated(value: Buffer, roll: (below: number) => number): Buffer {
    const kind = roll(5);
    if (kind === 0) return Buffer.from(value.subarray(0, roll(value.length)));
    if (kind === 1) return Buffer.concat([value, Buffer.alloc(1 + roll(40), roll(256))]);
    if (kind === 2) return flippedBits(value, 1 + roll(8), roll);
    if (kind === 3) return Buffer.from(value).fill(roll(2) * 255, roll(value.length));
    const from = roll(value.length);
    return Buffer.concat([value.subarray(from), value.subarray(0, from)]);
  }

  function flippedBits(value: Buffer, count: number, roll: (below: number) => number): Buffer {
    const copy = Buffer.from(value);
    for (let index = 0; index < count; index += 1) {
      const at = roll(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << roll(8));
    }
    return copy;
  }

  test(`${records} mutated records: no stop, each with its rejection and its dead letter`, async () => {
    let state = 7;
    const roll = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const seeds = randomRecords(11, 200);
    const whole = new Set(seeds.map((value) => value.toString('latin1')));
    const log = new MemoryLog();
    log.batchRecords = 1_000;
    for (const record of openingRecords()) log.append(topicNames.orders, record);
    for (let index = 0; index < records; ) {
      const value = mutated(seeds[roll(seeds.length)] as Buffer, roll);
      if (whole.has(value.toString('latin1'))) continue;
      log.append(topicNames.orders, value);
      index += 1;
    }
    await new MatcherProcess(log, { snapshotEveryRecords: 1_000_000 }).run();
    const { executions } = readOutputs(log);
    expect(executions).toHaveLength(2 + records);
    const taken = executions
      .slice(2)
      .filter(({ events: [event] }) => event?.kind !== 'RecordRejected');
    expect(taken).toHaveLength(0);
    expect(log.records(topicNames.deadLetters)).toHaveLength(records);
  }, 240_000);
});
