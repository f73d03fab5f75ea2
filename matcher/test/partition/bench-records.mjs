// Commands per second that one partition processes without a broker, and the time of each step.
// Run after `npx tsc -b matcher`:
//   node matcher/test/partition/bench-records.mjs [commands per envelope] [thousands of commands]
import { createHash } from 'node:crypto';
import { openSignOffKey, verifierFor } from '@pm/domain/signoff/keys';
import { sealEnvelope, sealWritten, verifySealed } from '@pm/domain/signoff/records';
import { openRecordCodec } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import { Engine } from '../../dist/core/index.js';
import { EnvelopeReader } from '../../dist/partition/envelope-reader.js';
import { firstPosition, RecordProcessor } from '../../dist/partition/record-processor.js';

const perEnvelope = Number(process.argv[2] ?? 256);
const commandsTotal = Number(process.argv[3] ?? 300) * 1_000;
const partition = 0;
const startMs = 1_700_000_000_000;
const noOther = async () => null;
const orders = openRecordCodec(topics.orders.value, 1, noOther);
/** As main.ts opens it. */
const reusing = openRecordCodec(topics.orders.value, 1, noOther, ['PlaceOrder', 'CancelOrder']);
const executions = openRecordCodec(topics.executions.value, 2, noOther);
const operator = openSignOffKey(Buffer.alloc(32, 1));
const ingress = openSignOffKey(Buffer.alloc(32, 3));

let seed = 42;
function integer(below) {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

function bytes(length, kind, number) {
  const out = createHash('sha512').update(`${kind}:${number}`).digest();
  return Buffer.from(out.subarray(0, length));
}

const wallets = Array.from({ length: 5_000 }, (_, index) => ({
  maker: bytes(20, 'maker', index),
  signer: bytes(20, 'signer', index),
  apiKey: bytes(16, 'key', index),
}));
const noBuilder = Buffer.alloc(32);
const recent = [];

/** A market maker's day: 55 of 100 rest near the middle, 10 cross, 35 cancel. */
function command(id) {
  const wallet = wallets[integer(wallets.length)];
  if (recent.length > 200 && integer(100) < 35) {
    const order = recent.splice(integer(recent.length), 1)[0];
    return { kind: 'CancelOrder', orderId: order.orderId, signer: order.signer };
  }
  const crosses = integer(65) < 10;
  const outcome = integer(2);
  const price = crosses ? 5_200 : 4_000 + 100 * integer(10);
  const order = {
    kind: 'PlaceOrder',
    orderId: bytes(32, 'order', id),
    market: 1 + integer(20),
    outcome,
    side: 'BUY',
    timeInForce: crosses ? 'FAK' : 'GTC',
    postOnly: false,
    price,
    sizeMicro: 1_000_000 * (1 + integer(50)),
    budgetMicro: 0,
    holdMicro: 1e12,
    generation: 0,
    expiresAtMs: 0,
    acceptedAtMs: startMs,
    ageLimitMs: 0,
    signedAtMs: startMs,
    builder: noBuilder,
    selfTrade: 'CANCEL_NEWEST',
    ...wallet,
  };
  if (!crosses) recent.push(order);
  if (recent.length > 20_000) recent.shift();
  return order;
}

function records() {
  const seal = (key, sequence, commands) =>
    sealEnvelope(orders, key, { partition, sequence, commands });
  const markets = Array.from({ length: 20 }, (_, index) => ({
    kind: 'SetMarket',
    market: 1 + index,
    conditionId: bytes(32, 'condition', index),
    token0: bytes(32, 'token0', index),
    token1: bytes(32, 'token1', index),
    tick: 100,
    minSizeMicro: 1_000_000,
    feeRateBps: 100,
    mode: 'OPEN',
    takerDelayMs: 0,
  }));
  const opening = {
    kind: 'OpenPartition',
    partition,
    operatorKey: operator.publicKey,
    feeWallet: bytes(20, 'fee', 0),
    bookAgeLimitMs: 2_000,
    orderAgeLimitMs: 120_000,
    timeMs: startMs,
  };
  const setKey = { kind: 'SetKey', publicKey: ingress.publicKey, role: 'INGRESS', active: true };
  const values = [seal(operator, 0, [opening, setKey, ...markets])];
  for (let id = 0; id < commandsTotal; id += perEnvelope) {
    const commands = Array.from({ length: perEnvelope }, (_, index) => command(id + index));
    values.push(seal(ingress, values.length, commands));
  }
  return values;
}

/** Processor time, which a busy machine does not change much; garbage collection on other threads counts too. */
function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function reader() {
  return new EnvelopeReader({
    partition,
    operatorKey: operator.publicKey,
    codec: reusing,
  });
}

function whole(values) {
  const engine = new Engine(partition);
  const processor = new RecordProcessor(
    { partition, reader: reader(), executions },
    firstPosition(engine),
  );
  let [bytesOut, events] = [0, 0];
  const started = processorMs();
  const startedMs = performance.now();
  for (const [offset, value] of values.entries()) {
    const output = processor.process({ offset, value });
    bytesOut += output.value.length;
    events += output.events;
  }
  const wallMs = performance.now() - startedMs;
  const tookMs = processorMs() - started;
  return { tookMs, wallMs, bytesOut, events, openOrders: engine.openOrderCount };
}

/** Measures the steps of `whole` one after the other, each over the whole log. */
function steps(values) {
  const timed = (work) => {
    const started = processorMs();
    const result = work();
    return [processorMs() - started, result];
  };
  const [verifier, first] = [verifierFor(ingress.publicKey), values.slice(1)];
  const [verifyMs] = timed(() => first.map((value) => verifySealed(value, verifier)));
  const [decodeMs, envelopes] = timed(() => values.map((value) => orders.decode(value)));
  const engine = new Engine(partition);
  let chain = Buffer.alloc(32);
  const keyId = ingress.keyId;
  let applyMs = 0;
  const [bothMs] = timed(() => {
    for (const [inOffset, envelope] of envelopes.entries()) {
      const [tookMs, { timeMs, written }] = timed(() => engine.apply(envelope, inOffset));
      applyMs += tookMs;
      const head = { inOffset, timeMs, keyId, sequence: inOffset };
      chain = sealWritten(executions, chain, { head, written }).chain;
    }
  });
  const sealMs = bothMs - applyMs;
  const [hashMs] = timed(() => values.map((value) => createHash('sha256').update(value).digest()));
  const [stateMs, state] = timed(() => engine.encodeState());
  return { verifyMs, decodeMs, applyMs, sealMs, hashMs, stateMs, stateBytes: state.length };
}

const values = records();
whole(values.slice(0, 100));
const runs = Array.from({ length: 3 }, () => whole(values));
const result = runs.sort((a, b) => a.tookMs - b.tookMs)[0];
const parts = steps(values);
const perCommandUs = (ms) => `${((ms * 1_000) / commandsTotal).toFixed(2)} us`;
const bytesIn = values.reduce((sum, value) => sum + value.length, 0);
const lines = {
  commands: commandsTotal,
  perEnvelope,
  'commands per second of wall time': Math.round((commandsTotal / result.wallMs) * 1_000),
  'commands per second of processor time': Math.round((commandsTotal / result.tookMs) * 1_000),
  'whole, per command': perCommandUs(result.tookMs),
  'verify sign-off': perCommandUs(parts.verifyMs),
  'decode envelope': perCommandUs(parts.decodeMs),
  'apply and write events (engine)': perCommandUs(parts.applyMs),
  'seal and chain execution': perCommandUs(parts.sealMs),
  'bare SHA-256 of the input': perCommandUs(parts.hashMs),
  'encodeState, ms': parts.stateMs.toFixed(1),
  'state bytes': parts.stateBytes,
  'open orders': result.openOrders,
  'bytes in, out per command': `${Math.round(bytesIn / commandsTotal)}, ${Math.round(result.bytesOut / commandsTotal)}`,
  'events per command': (result.events / commandsTotal).toFixed(2),
};
for (const [name, value] of Object.entries(lines)) process.stdout.write(`${name}: ${value}\n`);
