import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import { marketRules, orderOf, startMs } from '../core/commands.ts';
import { MatcherProcess, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { keys, openingCommand, openingRecords, sealed } from './sealed-records.ts';

const hourMs = 3_600_000;
const tick = (timeMs: number): Command => ({ kind: 'Tick', term: 0, timeMs });
const ownerAt = (timeMs: number) => sealed(keys.owner, [tick(timeMs)]);
const witnessAt = (timeMs: number) => sealed(keys.ingress, [tick(timeMs)]);
const orderAt = (id: number, nowMs: number, order: Partial<PlaceOrder> = {}) =>
  sealed(keys.ingress, [orderOf(id, id, { acceptedAtMs: nowMs, signedAtMs: nowMs, ...order })]);
const opened = [...openingRecords(), sealed(keys.operator, [marketRules(1)])];

/** The clock after each record, and the kind of its first event or the reason of its rejection. */
async function runOf(records: readonly Buffer[], files = new MemoryFiles()) {
  const log = new MemoryLog();
  for (const record of [...opened, ...records]) log.append(topicNames.orders, record);
  await new MatcherProcess(log, { files, snapshotEveryRecords: 1, verifyReplay: true }).run();
  return readOutputs(log)
    .executions.slice(opened.length)
    .map(({ timeMs, events: [event] }) => [
      timeMs - startMs,
      event?.kind === 'RecordRejected' ? event.reason : event?.kind,
    ]);
}

test('a tick moves the clock by no more than the bound without a witness', async () => {
  expect(
    await runOf([ownerAt(startMs + clockLeapMaxMs), ownerAt(startMs + 2 * clockLeapMaxMs + 1)]),
  ).toEqual([
    [clockLeapMaxMs, undefined],
    [clockLeapMaxMs, 'CLOCK_LEAP'],
  ]);
});

test('an owner that is an hour ahead expires no order and refuses none; the next owner goes on', async () => {
  const gtd = { timeInForce: 'GTD', expiresAtMs: startMs + 60_000 } as const;
  expect(
    await runOf([
      orderAt(1, startMs, gtd),
      ownerAt(startMs + hourMs),
      orderAt(2, startMs + 400),
      ownerAt(startMs + 500),
      orderAt(3, startMs + 600),
    ]),
  ).toEqual([
    [0, 'OrderPlaced'],
    [0, 'CLOCK_LEAP'],
    [0, 'OrderPlaced'],
    [500, undefined],
    [500, 'OrderPlaced'],
  ]);
});

test('after a night the clock catches up with a witness, and due orders expire then', async () => {
  const nightMs = 8 * hourMs;
  const gtd = { timeInForce: 'GTD', expiresAtMs: startMs + 60_000 } as const;
  expect(
    await runOf([
      orderAt(1, startMs, gtd),
      ownerAt(startMs + nightMs),
      witnessAt(startMs + nightMs + 100),
      ownerAt(startMs + nightMs + 500),
      orderAt(2, startMs + nightMs + 600),
    ]),
  ).toEqual([
    [0, 'OrderPlaced'],
    [0, 'CLOCK_LEAP'],
    [0, undefined],
    [nightMs + 500, 'OrderCanceled'],
    [nightMs + 500, 'OrderPlaced'],
  ]);
});

test('a witness moves nothing, whatever it says, nor does an owner that is right lose by one that is wrong', async () => {
  expect(await runOf([witnessAt(startMs + hourMs), ownerAt(startMs + 500)])).toEqual([
    [0, undefined],
    [500, undefined],
  ]);
});

test('many ticks of one record move the clock by the bound, not by a multiple of it', async () => {
  const ticks = [1, 2, 3].map((times) => tick(startMs + times * clockLeapMaxMs));
  expect(await runOf([sealed(keys.owner, ticks)])).toEqual([[0, 'CLOCK_LEAP']]);
});

test('a restart remembers the witness', async () => {
  const files = new MemoryFiles();
  const log = new MemoryLog();
  for (const record of [...opened, witnessAt(startMs + hourMs)])
    log.append(topicNames.orders, record);
  await new MatcherProcess(log, { files, snapshotEveryRecords: 1 }).run();
  log.append(topicNames.orders, ownerAt(startMs + hourMs));
  await new MatcherProcess(log, { files }).run();
  expect(readOutputs(log).executions.at(-1)?.timeMs).toBe(startMs + hourMs);
});

test('a log that was written before the bound replays with its leaps', async () => {
  const setOwner: Command = {
    kind: 'SetKey',
    publicKey: keys.owner.publicKey,
    role: 'OWNER',
    active: true,
  };
  const log = new MemoryLog();
  const records = [sealed(keys.operator, [openingCommand, setOwner]), ownerAt(startMs + hourMs)];
  for (const record of records) log.append(topicNames.orders, record);
  await new MatcherProcess(log).run();
  expect(readOutputs(log).executions.at(-1)?.timeMs).toBe(startMs + hourMs);
});
