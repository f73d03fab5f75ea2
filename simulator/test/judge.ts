import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { checkChain, firstChain } from '@pm/domain/signoff/records';
import type { IncomingRecord, LogClient } from '@pm/kit/kafka';
import type { WalletAddress } from '@pm/schemas/ids';
import type { Execution, OrderPlaced } from '@pm/schemas/log/executions';
import type { CommandOf } from '@pm/schemas/log/orders';
import { PlainLedger } from '../../acceptance/test/money/plain-ledger.ts';
import { Engine } from '../../matcher/src/core/index.ts';
import { firstPosition, RecordProcessor } from '../../matcher/src/partition/record-processor.ts';
import { tablesView } from '../../projectors/src/tables/tables-view.io.ts';
import type { DefectParts } from './defect-parts.ts';
import { noDefects } from './defects.ts';
import {
  bookAgeLimitMs,
  codecs,
  keys,
  named,
  noMetrics,
  partitionCount,
  topicNames,
  walletCount,
} from './exchange-facts.ts';
import { BookingJudge } from './judge-bookings.ts';
import type { Brokers } from './kafka/brokers.ts';
import { SequentialReader } from './machines/matcher-machine.ts';
import { tablesOptions } from './machines/projector-machine.ts';
import type { LedgerServer } from './stores/ledger-server.ts';
import { TablesServer } from './stores/tables-server.ts';

/** A promise of the exchange that a run has broken. */
class BrokenPromise extends Error {}

/** An output that counts, and when it came. */
interface Output {
  readonly atMs: number;
  readonly partition: number;
  readonly execution: Execution;
}

export interface Judged {
  readonly brokers: Brokers;
  readonly ledger: LedgerServer;
  readonly tables: TablesServer;
  /** Parts that matchers are made of. */
  readonly parts: DefectParts;
}

function check(holds: boolean, promise: string): void {
  if (!holds) throw new BrokenPromise(promise);
}

/**
 * Judges a run by the log, when everything has come to its end: the outputs are those of a replay, byte for byte; the
 * money adds up; ledger and tables say what the log says. Returns what the log has carried out, by id, and how often.
 * Throws `BrokenPromise` or `BrokenMoney`.
 */
export async function judge(judged: Judged): Promise<ReadonlyMap<string, number>> {
  const plain = new PlainLedger(defaultFeeWallet);
  const engines: Engine[] = [];
  const outputs: Output[] = [];
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const { engine, values } = replay(judged, partition);
    engines.push(engine);
    outputs.push(...outputsOf(judged.brokers, partition, values));
  }
  for (let partition = 0; partition < partitionCount; partition += 1) {
    judgeBookings(judged.brokers, partition, outputs);
    judgeCancels(judged.brokers, partition, outputs);
  }
  judgeMoney(judged, plain, outputs);
  judgeLedger(judged.ledger, plain);
  await judgeTables(judged);
  for (const [partition, engine] of engines.entries()) judgeHolds(engine, plain, partition);
  const carriedOut = new Map(plain.carriedOut);
  for (const id of refusedAfterDelay(outputs)) carriedOut.delete(id);
  for (const { value } of recordsOf(judged.brokers, topicNames.transfers, 0)) {
    const { transferId, amountMicro } = codecs.transfers.decode(value ?? Buffer.alloc(0));
    if (amountMicro > 0) carriedOut.set(transferId.toString('hex'), 1);
  }
  return carriedOut;
}

function judgeBookings(brokers: Brokers, partition: number, outputs: readonly Output[]): void {
  const records = recordsOf(brokers, topicNames.orders, partition);
  const bookings = new BookingJudge(check);
  for (const { execution } of outputs.filter((output) => output.partition === partition)) {
    const { inOffset, events } = execution;
    if (events.some(({ kind }) => kind === 'RecordRejected')) continue;
    const { commands } = codecs.orders.decode(records[inOffset]?.value ?? Buffer.alloc(0));
    bookings.take(commands, execution);
  }
}

/** Until when orders are refused by a cancel of their id, on the clock of the partition, by signer and id. */
type HeldIds = Map<string, number>;

/** No order is booked for the time-to-book limit behind a cancel of its id. */
function judgeCancels(brokers: Brokers, partition: number, outputs: readonly Output[]): void {
  const records = recordsOf(brokers, topicNames.orders, partition);
  const held: HeldIds = new Map();
  for (const { execution } of outputs.filter((output) => output.partition === partition)) {
    const { inOffset, events } = execution;
    if (events.some(({ kind }) => kind === 'RecordRejected')) continue;
    const { commands } = codecs.orders.decode(records[inOffset]?.value ?? Buffer.alloc(0));
    for (const event of events)
      if (event.kind === 'OrderPlaced') judgeHeld(event, execution.timeMs, held);
    for (const [index, command] of commands.entries()) {
      const isWhole = !events.some(
        (event) => event.kind === 'CommandRefused' && event.command === index,
      );
      if (command.kind === 'CancelByIds' && isWhole) holdIds(command, execution, held);
    }
  }
}

/** A delayed order had come before. */
function judgeHeld({ orderId, signer, command }: OrderPlaced, timeMs: number, held: HeldIds): void {
  const untilMs = held.get(heldName(signer, orderId)) ?? Number.NEGATIVE_INFINITY;
  const isFree = command === -1 || timeMs > untilMs;
  check(isFree, `order ${orderId.toString('hex')} was booked behind a cancel of its id`);
}

function holdIds(
  { signer, orderIds, acceptedAtMs }: CommandOf<'CancelByIds'>,
  { timeMs }: Execution,
  held: HeldIds,
): void {
  const untilMs = Math.min(acceptedAtMs, timeMs + bookAgeLimitMs) + bookAgeLimitMs;
  for (const orderId of orderIds) {
    const name = heldName(signer, orderId);
    held.set(name, Math.max(untilMs, held.get(name) ?? untilMs));
  }
}

const heldName = (signer: Buffer, orderId: Buffer) =>
  `${signer.toString('hex')}/${orderId.toString('hex')}`;

/** Orders whose taker delay has ended with a refusal. */
function refusedAfterDelay(outputs: readonly Output[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { execution } of outputs)
    for (const event of execution.events) {
      if (event.kind === 'OrderDelayed') ids.add(event.orderId.toString('hex'));
      if (event.kind === 'OrderPlaced') ids.delete(event.orderId.toString('hex'));
    }
  return ids;
}

function recordsOf(brokers: Brokers, topic: string, partition: number): readonly IncomingRecord[] {
  const log = brokers.partition(topic, partition);
  return log.records.slice(0, log.highWatermark);
}

/** Outputs of a matcher that never fails, and its engine after the last one. */
function replay({ brokers, parts: changed }: Judged, partition: number) {
  const operatorKey = keys.opening.publicKey;
  const reader = new SequentialReader({ partition, operatorKey, codec: codecs.orders });
  const parts = { partition, reader: changed.reader(reader, null), executions: codecs.executions };
  const processor = new RecordProcessor(parts, firstPosition(new Engine(partition)));
  const values: Buffer[] = [];
  for (const record of recordsOf(brokers, topicNames.orders, partition)) {
    const output = processor.process(record);
    check(output !== null, `record ${record.offset} of partition ${partition} cannot be read`);
    values.push(output?.value ?? Buffer.alloc(0));
  }
  return { engine: processor.engine, values };
}

/** Inputs that the last owner may have left without outputs when it was stopped. */
const ticksUnderWay = 8;

/** The rule of every reader: the next output counts, an earlier one is dropped, a gap is an error. */
function outputsOf(brokers: Brokers, partition: number, values: readonly Buffer[]): Output[] {
  const outputs: Output[] = [];
  let chain: Buffer = firstChain;
  for (const { value, offset, timestampMs } of recordsOf(
    brokers,
    topicNames.executions,
    partition,
  )) {
    const place = `output ${offset} of partition ${partition}`;
    const bytes = value ?? Buffer.alloc(0);
    const execution = codecs.executions.decode(bytes);
    const { inOffset } = execution;
    check(inOffset <= outputs.length, `${place} comes after a gap: ${outputs.length}, ${inOffset}`);
    check(values[inOffset]?.equals(bytes) === true, `${place} is not that of input ${inOffset}`);
    if (inOffset < outputs.length) continue;
    check(checkChain(bytes, chain), `${place} breaks the chain`);
    chain = execution.chain;
    outputs.push({ atMs: timestampMs, partition, execution });
  }
  check(
    values.length - outputs.length <= ticksUnderWay,
    `partition ${partition} has ${values.length} inputs and ${outputs.length} outputs`,
  );
  return outputs;
}

function judgeMoney({ brokers }: Judged, plain: PlainLedger, outputs: Output[]): void {
  const transfers = recordsOf(brokers, topicNames.transfers, 0).map(({ timestampMs, value }) => {
    const transfer = codecs.transfers.decode(value ?? Buffer.alloc(0));
    return { atMs: timestampMs, take: () => plain.transfer(transfer) };
  });
  const executions = outputs.map(({ atMs, partition, execution }) => ({
    atMs,
    take: () => plain.execution(execution, partition),
  }));
  for (const { take } of [...transfers, ...executions].sort((a, b) => a.atMs - b.atMs)) take();
}

function judgeLedger(ledger: LedgerServer, plain: PlainLedger): void {
  for (const wallet of plain.money.keys()) {
    const { freeMicro, heldMicro, pendingMicro } = ledger.model.balance(wallet as WalletAddress);
    const { free, held } = plain.balance(wallet);
    const says = `${wallet} has ${freeMicro}, ${heldMicro}, ${pendingMicro} in the ledger`;
    const isEqual = freeMicro === free && heldMicro === held && pendingMicro === 0;
    check(isEqual, `${says}; ${free}, ${held}, 0 by addition`);
  }
}

/** Once every order is cancelled nothing is held: what was held was for open orders. */
function judgeHolds(engine: Engine, plain: PlainLedger, partition: number): void {
  const all = { apiKey: null, market: -1, outcome: -1, session: false } as const;
  for (let number = 0; number < walletCount; number += 1) {
    const signer = named(20, 1, number);
    const command = { kind: 'CancelOrders', ...all, signer, acceptedAtMs: engine.timeMs } as const;
    const head = { signature: Buffer.alloc(64), keyId: keys.opening.keyId, partition, sequence: 0 };
    const { events, timeMs } = engine.apply({ ...head, commands: [command] }, 0);
    const { keyId, sequence } = head;
    const chain = Buffer.alloc(32);
    plain.execution({ chain, inOffset: 0, timeMs, keyId, sequence, events }, partition);
  }
  if (partition < partitionCount - 1) return;
  for (const [wallet, { held }] of plain.money)
    check(held === 0, `${wallet} has ${held} held without an open order`);
}

/** The tables have the rows of a fold of the whole log at once. */
async function judgeTables({ brokers, tables }: Judged): Promise<void> {
  const expected = new TablesServer(noDefects);
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const records = recordsOf(brokers, topicNames.executions, partition);
    const complete = tables.completeTo(partition);
    check(complete === records.length, `the tables end at ${complete} of ${records.length}`);
    await foldAll(expected, partition, records);
  }
  const found = tables.contents();
  for (const [name, rows] of expected.contents()) {
    const stored = found.get(name) ?? [];
    const at = rows.findIndex((row, index) => row !== stored[index]);
    const differs = `table ${name} has ${stored.length} of ${rows.length} rows`;
    const isEqual = at === -1 && stored.length === rows.length;
    check(isEqual, `${differs}; at ${at} ${stored[at]} instead of ${rows[at]}`);
  }
}

async function foldAll(
  server: TablesServer,
  partition: number,
  records: readonly IncomingRecord[],
): Promise<void> {
  const bounds = new Map([[partition, { low: 0, high: records.length }]]);
  const admin = async () => ({ bounds: async () => bounds, close: async () => {} });
  // It is asked for nothing else.
  const client = { admin } as unknown as LogClient;
  const options = tablesOptions(client, server.local);
  const limits = { ...options.limits, batchRecords: 1e9, batchRows: 1e9, batchMs: 1, restMs: 1 };
  let stored = () => {};
  const done = new Promise<void>((resolve) => {
    stored = resolve;
  });
  const view = tablesView({ ...options, limits, metrics: noMetrics });
  const projection = await view.assign(partition, {
    commit: async () => {},
    committed: async () => null,
    fail: (error) => {
      throw error;
    },
    stored: () => stored(),
  });
  const { executions: topic } = topicNames;
  await projection.project({ topic, partition, records, highWatermark: records.length });
  await done;
  await projection.close();
}
