import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Random } from '@pm/kit/random';
import { toAvroJson } from '@pm/schemas/avro/schema';
import { rules } from '@pm/schemas/log/log-rules';
import {
  type Command,
  type Envelope,
  envelopeSignatureBytes,
  noOwner,
  ownerIdBytes,
  type PlaceOrder,
  sequencesPerRun,
} from '@pm/schemas/log/orders';
import { registryHeaderBytes, topics } from '@pm/schemas/log/topics';
import type { KeyRole } from '@pm/schemas/log/types';
import type { InputRecord } from '../../src/partition/record-processor.ts';
import {
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  requestIdOf,
  splitOf,
  startMs,
  walletOf,
} from '../core/commands.ts';
import { RandomLog, tightLimits } from '../core/random-log.ts';
import { constants, type GoldenHead } from './golden-log.ts';
import { codecs, keys, openingCommand, partition } from './sealed-records.ts';

const signers = { ...keys, ledger: openSignOffKey(Buffer.alloc(32, 5)) };
type Signer = keyof typeof signers;

/** Random records of a log, and the most of them between two of a kind that some version has changed. */
const randomRecords = 150;
const specialEveryMax = 3;
/** Before its middle and its end the records of a version leap to the next checkpoint, and pass it. */
const checkpointEvery = 10_000;
const beforeCheckpoint = 2;

/** So many ids fill the memory before the end of a log under one version, and of one under all. */
const rememberedIds = [300, 450] as const;

/** Head of a golden log under these versions. */
export function goldenHead(versions: readonly number[]): GoldenHead {
  return {
    partition,
    openingKey: keys.operator.publicKey.toString('hex'),
    limits: { ...tightLimits, rememberedIds: rememberedIds[versions.length === 1 ? 0 : 1] },
    constants,
    schemaId: codecs.orders.schemaId,
    schema: toAvroJson(topics.orders.value),
  };
}

const setKey = (name: Signer, role: KeyRole, active = true): Command => ({
  kind: 'SetKey',
  publicKey: signers[name].publicKey,
  role,
  active,
});
const listed = [
  setKey('owner', 'OWNER'),
  setKey('ingress', 'INGRESS'),
  setKey('ledger', 'LEDGER'),
] as const;
const open: Command = { kind: 'SetTradingMode', mode: 'OPEN' };
const generation: Command = { kind: 'StartGeneration', generation: 0 };

/**
 * A log of one partition under some versions of the rules, one after the other: a random log, and between its records
 * those that any version judges in another way than the one before. The same versions give the same log. `orders` is
 * the version that its random records are of, if that is a later one.
 */
export class GoldenHistory {
  readonly records: InputRecord[] = [];
  readonly #random = new Random(2_026);
  readonly #log: RandomLog;
  #version = 0;
  #term = 0;
  #sequence = 0;
  #run = 1;
  #offset = 0;
  #latestMs = startMs;
  #special = 0;
  #placed = 0;

  constructor(versions: readonly number[], orders = Math.max(...versions)) {
    this.#log = new RandomLog(2_026, orders >= rules.judgedByTicks);
    this.#seal('ingress', []);
    this.#open(versions[0] ?? 0);
    for (const version of versions) {
      if (version > this.#version) this.#begin(version);
      this.#special = 0;
      for (const half of [1, 2]) this.#half(half, randomRecords / versions.length / 2);
    }
    this.#end();
  }

  #half(half: number, count: number): void {
    const kinds = this.#specials();
    // Each kind at least once in both halves.
    const every = Math.max(1, Math.min(specialEveryMax, Math.floor((2 * count) / kinds.length)));
    for (let left = Math.round(count); left > 0; left -= 1) {
      this.#next();
      if (left % every !== 0) continue;
      kinds[this.#special % kinds.length]?.();
      this.#special += 1;
    }
    this.#liveOfMarket(this.#version * 2 + half);
    this.#leap();
  }

  /** An opening that another key signs, one with what it may not carry, and the one that counts. */
  #open(version: number): void {
    const begun: Command[] = version === 0 ? [] : [{ kind: 'SetRules', version }];
    this.#seal('stranger', [openingCommand]);
    this.#seal('operator', [openingCommand, ...this.#tickOf(startMs)]);
    this.#seal('operator', [openingCommand, ...begun, ...listed]);
    this.#version = version;
  }

  #begin(version: number): void {
    this.#seal('operator', [{ kind: 'SetRules', version }]);
    this.#version = version;
  }

  /** The next one of the random log; its ticks have the term, and most have a witness. */
  #next({ envelope, isOperator } = this.#log.next()): void {
    const commands = envelope.commands.map((one) =>
      one.kind === 'Tick' ? { ...one, term: this.#term } : one,
    );
    const [first] = commands;
    if (first?.kind !== 'Tick') {
      this.#seal(isOperator ? 'operator' : 'ingress', commands);
      return;
    }
    this.#latestMs = Math.max(this.#latestMs, first.timeMs);
    if (this.#random.below(5) > 0) this.#seal('ingress', commands);
    this.#seal('owner', commands);
  }

  /** The next commands of an ingress, after all that comes before them. */
  #orders(): readonly Command[] {
    for (;;) {
      const record = this.#log.next();
      const { commands } = record.envelope;
      if (!record.isOperator && commands[0]?.kind !== 'Tick') return commands;
      this.#next(record);
    }
  }

  /** A market from its listing to its redemption, with modes, rules and tokens between. */
  #liveOfMarket(id: number): void {
    const market = 3_000 + id;
    const times = { acceptedAtMs: this.#latestMs, signedAtMs: this.#latestMs };
    const place = (wallet: number, order: Partial<PlaceOrder> = {}) =>
      orderOf(800_000 + 10 * id + wallet, wallet, { market, ...times, ...order });
    const mode = (one: 'POST_ONLY' | 'OPEN'): Command => ({ kind: 'SetTradingMode', mode: one });
    this.#seal('operator', [marketRules(market), mode('POST_ONLY')]);
    const split = { ...splitOf(700_000 + id, 1, 5 * oneShareMicro, market), ...times } as Command;
    this.#seal('ingress', [split, place(2), place(3, { outcome: 1 })]);
    this.#seal('operator', [mode('OPEN'), marketRules(market, { tick: 25, tickOnly: true })]);
    this.#seal('ingress', [place(4, { outcome: 1 }), place(5), place(6, { price: 4_975 })]);
    const wallet = walletOf(1);
    const requestId = requestIdOf(710_000 + id);
    const sizeMicro = oneShareMicro;
    this.#seal('ingress', [{ kind: 'MergePosition', requestId, wallet, market, sizeMicro }]);
    this.#seal('operator', [{ kind: 'ResolveMarket', market, payout0: 3_300 }]);
    const redeemed = requestIdOf(720_000 + id);
    this.#seal('ingress', [
      { kind: 'RedeemPosition', requestId: redeemed, wallet, market },
      place(7),
    ]);
  }

  #specials(): readonly (() => void)[] {
    return [
      () => this.#repeat(),
      () => this.#signOverBytes(),
      () => this.#appointOperator(),
      () => this.#claim(),
      () => this.#breakRecord(),
      () => this.#tickOfOthers(),
      () => this.#setRules(),
      () => this.#changeKeys(),
      () => this.#standStill(),
    ];
  }

  /** Appends an earlier record again. */
  #repeat(): void {
    for (let count = 0; count < 2; count += 1) this.#append(this.#recent().value);
  }

  /** As logs of the first versions are signed. */
  #signOverBytes(): void {
    const commands = this.#orders();
    const encoder = { encode: codecs.orders.encode, fingerprint: Buffer.alloc(0) };
    const content = { partition, sequence: this.#nextSequence(), commands };
    this.#append(sealEnvelope(encoder, signers.ingress, content));
  }

  /** Lists an operator beside the opening key, lets it do what it may and may not, and retires it. */
  #appointOperator(): void {
    this.#seal('operator', [setKey('stranger', 'OPERATOR')]);
    this.#seal('stranger', [open]);
    this.#seal('stranger', [setKey('stranger', 'INGRESS')]);
    this.#seal('operator', [setKey('stranger', 'OPERATOR', false)]);
    this.#seal('stranger', [open]);
  }

  /** Terms that are too low, too high and right; an owner that resigns; ticks of each. */
  #claim(): void {
    const term = this.#term + 1;
    const owner = Buffer.alloc(ownerIdBytes, this.#random.integer(1, 9));
    for (const one of [term + 1, term, term, term - 1])
      this.#seal('owner', [{ kind: 'ClaimPartition', term: one, owner }]);
    this.#seal('ingress', [{ kind: 'ClaimPartition', term: term + 1, owner }]);
    if (this.#version >= rules.ownerTerms) this.#term = term;
    for (const one of [term - 1, term + 1, term])
      this.#seal('owner', [{ kind: 'Tick', term: one, timeMs: this.#latestMs + 1 }]);
    if (term % 2 > 0) return;
    this.#seal('owner', [{ kind: 'ClaimPartition', term: term + 1, owner: noOwner }]);
    if (this.#version >= rules.ownerTerms) this.#term += 1;
  }

  #breakRecord(): void {
    const commands = this.#orders();
    const forged = this.#sealed('ingress', commands);
    const at = forged.length - 1 - this.#random.below(forged.length - registryHeaderBytes - 80);
    forged[at] = (forged[at] ?? 0) ^ 1;
    const elsewhere = { partition: partition + 1, sequence: this.#nextSequence(), commands };
    const encode = (value: Envelope) =>
      Buffer.concat([codecs.orders.encode(value), Buffer.from([7])]);
    const unreadable = { partition, sequence: this.#nextSequence(), commands: [] };
    const broken = [
      null,
      forged,
      this.#sealed('ingress', commands).subarray(0, envelopeSignatureBytes),
      sealEnvelope(codecs.orders, signers.ingress, elsewhere),
      sealEnvelope({ ...codecs.orders, encode }, signers.ingress, unreadable),
      this.#sealed('stranger', commands),
    ];
    for (const one of broken) this.#append(one);
  }

  /**
   * Appends commands that each key may not sign, a witness that is ahead and the ticks that it allows; time goes on
   * little.
   */
  #tickOfOthers(): void {
    for (const name of ['operator', 'ledger', 'ingress', 'owner'] as const)
      this.#seal(name, this.#tickOf(this.#latestMs + 2));
    this.#seal('ledger', [generation]);
    this.#seal('ledger', [generation, open]);
    this.#seal('owner', [open]);
    if (this.#version < rules.witnessedClock) return;
    this.#seal('owner', this.#tickOf(this.#latestMs + 1_000_000));
  }

  #setRules(): void {
    for (const version of [this.#version, this.#version - 1, -1])
      this.#seal('operator', [{ kind: 'SetRules', version }]);
    this.#seal('ingress', [{ kind: 'SetRules', version: this.#version + 1 }]);
    this.#seal('operator', [openingCommand]);
  }

  #changeKeys(): void {
    this.#seal('operator', [setKey('operator', 'OPERATOR', false), setKey('operator', 'INGRESS')]);
    this.#seal('operator', [setKey('stranger', 'INGRESS')]);
    this.#seal('stranger', this.#orders());
    this.#seal('operator', [setKey('stranger', 'LEDGER', false)]);
    this.#seal('ingress', [setKey('stranger', 'OPERATOR')]);
  }

  /** The clock stands for three seconds: orders with limits of their own and without, and the cancel of one. */
  #standStill(): void {
    const place = (ms: number, order: Partial<PlaceOrder> = {}): PlaceOrder => {
      this.#placed += 1;
      const acceptedAtMs = this.#latestMs + ms;
      const id = 850_000 + this.#placed;
      const times = { acceptedAtMs, signedAtMs: this.#latestMs };
      return orderOf(id, 1 + (this.#placed % 5), { market: 3_900, price: 100, ...times, ...order });
    };
    const canceled = place(20, { ageLimitMs: 3_000, postOnly: true });
    const { orderId, signer } = canceled;
    this.#seal('operator', [marketRules(3_900), open]);
    this.#seal('ingress', [place(10), place(10, { ageLimitMs: 500 }), canceled]);
    this.#seal('ingress', [{ kind: 'CancelOrder', orderId, signer }, place(1_900), place(2_900)]);
    this.#latestMs += 3_000;
    this.#seal('ingress', this.#tickOf(this.#latestMs));
    this.#seal('owner', this.#tickOf(this.#latestMs));
  }

  /** A clock that is far ahead, without a witness and with one, and orders before and after it. */
  #end(): void {
    const later = this.#latestMs + opening.orderAgeLimitMs + 60_001;
    const place = (id: number, timeMs: number) =>
      orderOf(id, 1, { acceptedAtMs: timeMs, signedAtMs: timeMs });
    for (const name of ['owner', 'ingress', 'owner'] as const) {
      this.#seal(name, this.#tickOf(later));
      this.#seal('ingress', [place(900_001, this.#latestMs), place(900_002, later)]);
    }
    this.#seal('ledger', [{ kind: 'StartGeneration', generation: 1_000 }]);
    this.#seal('ingress', [place(900_001, later), place(900_002, later)]);
    this.#repeat();
  }

  /** Leaves offsets out up to the next checkpoint. */
  #leap(): void {
    const next = Math.ceil(this.#offset / checkpointEvery) * checkpointEvery;
    this.#offset = Math.max(this.#offset, next - beforeCheckpoint);
    for (let count = 0; count < 2 * beforeCheckpoint; count += 1) this.#next();
  }

  #tickOf(timeMs: number): Command[] {
    return [{ kind: 'Tick', term: this.#term, timeMs }];
  }

  #recent(): InputRecord {
    const from = Math.max(0, this.records.length - 30);
    return this.records[this.#random.integer(from, this.records.length - 1)] as InputRecord;
  }

  /** Two processes send under a key at once, and now and then one of them starts again. */
  #nextSequence(): number {
    if (this.#random.below(3) === 0) this.#run += 1;
    this.#sequence += 1;
    return (this.#run - this.#random.below(2)) * sequencesPerRun + this.#sequence;
  }

  #sealed(name: Signer, commands: readonly Command[]): Buffer {
    const key: SignOffKey = signers[name];
    return sealEnvelope(codecs.orders, key, {
      partition,
      sequence: this.#nextSequence(),
      commands,
    });
  }

  #seal(name: Signer, commands: readonly Command[]): void {
    this.#append(this.#sealed(name, commands));
  }

  #append(value: Buffer | null): void {
    this.records.push({ offset: this.#offset, value });
    this.#offset += 1;
  }
}
