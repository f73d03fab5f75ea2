import type { Execution } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import { MatcherProcess, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import {
  codecs,
  keys,
  openingCommand,
  openingRecords,
  randomRecords,
  rulesWithoutClaims,
  sealed,
} from './sealed-records.ts';

const newRules: Command = { kind: 'SetRules', version: rulesWithoutClaims };
const setIngress = (active: boolean): Command => ({
  kind: 'SetKey',
  publicKey: keys.ingress.publicKey,
  role: 'INGRESS',
  active,
});

function logOf(records: readonly Buffer[]): MemoryLog {
  const log = new MemoryLog();
  for (const record of records) log.append(topicNames.orders, record);
  return log;
}

/** Outcome of each record: the reason of its rejection, or `taken`. */
async function outcomesOf(log: MemoryLog, files = new MemoryFiles()): Promise<readonly string[]> {
  await new MatcherProcess(log, { files, verifyReplay: true }).run();
  return readOutputs(log).executions.map(({ events: [event] }) =>
    event?.kind === 'RecordRejected' ? event.reason : 'taken',
  );
}

describe('the sequence of an envelope', () => {
  const opened = openingRecords();

  test('is refused when the key has sent it or a larger one before, and copied to the dead letters', async () => {
    const [first, second] = [sealed(keys.ingress, []), sealed(keys.ingress, [])];
    const log = logOf([...opened, second, first, second]);
    expect((await outcomesOf(log)).slice(2)).toEqual(['taken', 'OLD_SEQUENCE', 'OLD_SEQUENCE']);
    const letters = log
      .records(topicNames.deadLetters)
      .map(({ value }) => codecs.deadLetters.decode(value ?? Buffer.alloc(0)));
    expect(letters.map(({ offset, reason }) => [offset, reason])).toEqual([
      [3, 'OLD_SEQUENCE'],
      [4, 'OLD_SEQUENCE'],
    ]);
  });

  test('is counted by key', async () => {
    const early = sealed(keys.ingress, []);
    const tick = sealed(keys.owner, [{ kind: 'Tick', term: 0, timeMs: 1 }]);
    expect((await outcomesOf(logOf([...opened, tick, early]))).slice(2)).toEqual([
      'taken',
      'taken',
    ]);
  });

  test('of a rejected record is not used up', async () => {
    const early = sealed(keys.ingress, []);
    const forged = Buffer.from(sealed(keys.ingress, []));
    forged[9] = (forged[9] ?? 0) ^ 1;
    const found = await outcomesOf(logOf([...opened, forged, early]));
    expect(found.slice(2)).toEqual(['BAD_SIGNATURE', 'taken']);
  });

  test('is remembered by a snapshot and by a replay', async () => {
    const files = new MemoryFiles();
    const old = sealed(keys.ingress, []);
    const log = logOf([...opened, old]);
    await new MatcherProcess(log, { files, snapshotEveryRecords: 1 }).run();
    log.append(topicNames.orders, old);
    expect((await outcomesOf(log, files)).at(-1)).toBe('OLD_SEQUENCE');
    expect((await outcomesOf(log)).at(-1)).toBe('OLD_SEQUENCE');
  });

  test('keeps a retired key retired when its setting is appended again', async () => {
    const order = sealed(keys.ingress, []);
    const retire = sealed(keys.operator, [setIngress(false)]);
    const found = await outcomesOf(
      logOf([...opened, order, retire, ...opened, sealed(keys.ingress, [])]),
    );
    expect(found.slice(4)).toEqual(['OLD_SEQUENCE', 'OLD_SEQUENCE', 'UNKNOWN_KEY']);
  });
});

describe('a log that was written before sequences counted', () => {
  const old = [
    sealed(keys.operator, [openingCommand]),
    sealed(keys.operator, [setIngress(true)]),
    sealed(keys.ingress, []),
  ];

  test('replays as it was written until the rules begin; then everything before is old', async () => {
    const records = [...old, ...old.slice(1), sealed(keys.operator, [newRules]), ...old];
    const found = await outcomesOf(logOf([...records, sealed(keys.ingress, [])]));
    expect(found).toEqual([
      ...Array.from({ length: 6 }, () => 'taken'),
      ...old.map(() => 'OLD_SEQUENCE'),
      'taken',
    ]);
  });

  test('a key that sent nothing under the new rules cannot repeat what it sent under the old', async () => {
    const records = [...old, sealed(keys.operator, [newRules]), old[2] as Buffer];
    expect((await outcomesOf(logOf(records))).at(-1)).toBe('OLD_SEQUENCE');
  });
});

test('records that are appended again anywhere change no other record', async () => {
  const records = [...openingRecords(), ...randomRecords(17, 400)];
  const repeated = records.flatMap((record, at) =>
    at % 3 === 2 ? [record, records[(at * 7) % at] as Buffer, record] : [record],
  );
  const [whole, more] = [logOf(records), logOf(repeated)];
  for (const log of [whole, more]) await new MatcherProcess(log, { recordsPerSlice: 9 }).run();
  const taken = readOutputs(more).executions.filter(
    ({ events: [event] }) => event?.kind !== 'RecordRejected' || event.reason !== 'OLD_SEQUENCE',
  );
  const textOf = (executions: readonly Execution[]) =>
    executions.map(({ timeMs, sequence, events }) =>
      JSON.stringify([timeMs, sequence, events], (name, value) =>
        name === 'placedAtOffset' ? undefined : value,
      ),
    );
  expect(taken).toHaveLength(records.length);
  expect(textOf(taken)).toEqual(textOf(readOutputs(whole).executions));
});
