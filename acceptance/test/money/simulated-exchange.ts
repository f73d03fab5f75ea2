import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import type { ListedToken } from '@pm/domain/catalog/catalog-index';
import type { Reservation, ReserveResult } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { openOrderCrypto } from '@pm/domain/orders/order-crypto.io';
import { Fault } from '@pm/kit/fault';
import type { RedisClient } from '@pm/kit/redis';
import {
  conditionIdFromBytes,
  hexBytes,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { WithdrawalFreeze } from '@pm/schemas/log/accounts';
import { redisKeys } from '@pm/schemas/redis/keys';
import { RetryMemory } from '../../../ingress/test/retry-fixture.ts';
import { IngressProcess } from './ingress-process.ts';
import { type Fate, ParkedCalls } from './parked-calls.ts';
import { BrokenMoney, PlainLedger } from './plain-ledger.ts';
import { ProjectorProcess } from './projector-process.ts';
import { SimulatedLog, type SpoiledCommand } from './simulated-log.ts';

const startMs = 1_700_000_000_000;
export const partitionCount = 3;
/** Markets of each partition; the second one of each delays takers. */
const marketsPerPartition = 2;
export const walletCount = 4;

/** Bytes that name a thing of a history. */
export function named(length: number, kind: number, number: number): Buffer {
  const bytes = Buffer.alloc(length, kind);
  bytes.writeUInt32BE(number, length - 4);
  return bytes;
}

export const walletOf = (index: number): WalletAddress => walletFromBytes(named(20, 1, index));

const { keccak } = openOrderCrypto();

/** Where a defect is built in, to show that histories find it. */
export interface Defects {
  readonly command?: SpoiledCommand;
  /** Replaces a part of the scripts of the ledger. */
  readonly script?: { readonly part: string; readonly instead: string };
  /** Changes what the ledger says to ingress. */
  readonly reserved?: (reservation: Reservation, result: ReserveResult) => ReserveResult;
  /** An order that waited at the gateway counts from the end of its wait. */
  readonly arrivesAfterWait?: true;
}

export interface ExchangeOptions {
  readonly redis: RedisClient;
  /** Prefix of the keys in Redis. */
  readonly prefix: string;
  readonly ingresses: number;
  readonly defects?: Defects;
}

/**
 * An exchange in one thread: several processes of ingress and one of projectors with their real code, the real matcher
 * core, the real scripts in a real Redis. Everything that happens is a step of a history.
 */
export class SimulatedExchange {
  readonly calls = new ParkedCalls();
  readonly judge = new PlainLedger(defaultFeeWallet);
  retries = new RetryMemory();
  readonly frozen = new Map<WalletAddress, WithdrawalFreeze>();
  readonly log: SimulatedLog;
  readonly ledger: Ledger;
  readonly markets: Map<number, ListedToken['market']> = new Map();
  /** Markets that catalogs say are resolved. */
  readonly resolved = new Set<number>();
  readonly #projectors: ProjectorProcess[];
  nowMs = startMs;
  readonly #options: ExchangeOptions;
  readonly #ingresses: IngressProcess[] = [];
  #processes = 0;
  #saved: ReadonlyMap<string, Buffer> | null = null;

  private constructor(options: ExchangeOptions) {
    this.#options = options;
    const { redis, prefix, defects } = options;
    const { script } = defects ?? {};
    const spoiled = script === undefined ? redis : spoiledRedis(redis, script);
    this.ledger = openLedger(spoiled, redisKeys(prefix));
    this.log = new SimulatedLog(
      { partitions: partitionCount, judge: this.judge },
      defects?.command,
    );
    this.retries.nowMs = startMs;
    this.#projectors = [this.#newProjector(0), this.#newProjector(1)];
  }

  /** An exchange with an open ledger, listed markets and wallets with 1,000 USDC. */
  static async open(options: ExchangeOptions): Promise<SimulatedExchange> {
    const exchange = new SimulatedExchange(options);
    const { log } = exchange;
    for (let partition = 0; partition < partitionCount; partition += 1) {
      log.open(partition, hexBytes(defaultFeeWallet), startMs);
      for (let index = 0; index < marketsPerPartition; index += 1)
        exchange.list(1 + partition * marketsPerPartition + index, partition);
    }
    for (let index = 0; index < walletCount; index += 1)
      exchange.deposit(index, index, 1_000_000_000);
    exchange.#retriesStart();
    await exchange.settle();
    return exchange;
  }

  get ingressCount(): number {
    return this.#ingresses.length;
  }

  ingress(index: number): IngressProcess {
    return this.#ingresses[index % this.#ingresses.length] as IngressProcess;
  }

  #retriesStart(): void {
    for (let index = 0; index < this.#options.ingresses; index += 1)
      this.#ingresses.push(this.#newIngress(index));
  }

  /** Clocks of ingress differ by up to half a second. */
  #newIngress(index: number): IngressProcess {
    this.#processes += 1;
    const { log, calls, ledger } = this;
    const unchanged = (_of: Reservation, result: ReserveResult) => result;
    const { reserved = unchanged } = this.defects;
    const shared = { log, calls, ledger, keccak, reserved, nowMs: () => this.nowMs };
    return new IngressProcess(shared, this.#processes, (index - 1) * 400);
  }

  /** One of two that fold at once: each may believe that it is the only one. */
  projector(index: number): ProjectorProcess {
    return this.#projectors[index % this.#projectors.length] as ProjectorProcess;
  }

  /** The clock of the second one is ahead by more than a withdrawal may take. */
  #newProjector(index: number): ProjectorProcess {
    const { log, ledger, frozen } = this;
    return new ProjectorProcess({ log, ledger, frozen, nowMs: () => this.nowMs + index * 45_000 });
  }

  list(number: number, partition: number, feeRateBps = 100): void {
    const rules = {
      conditionId: named(32, 3, number),
      token0: named(32, 4, number),
      token1: named(32, 5, number),
      tick: 100,
      minSizeMicro: 1_000_000,
      feeRateBps,
      mode: 'OPEN',
      takerDelayMs: number % 2 === 0 ? 3_000 : 0,
    } as const;
    this.log.command(partition, { kind: 'SetMarket', market: number, ...rules, tickOnly: false });
    const known = { ...rules, market: number, partition, payout0: -1 };
    this.markets.set(number, known as unknown as ListedToken['market']);
  }

  resolve(number: number, payout0: number): void {
    const { partition } = this.market(number);
    this.resolved.add(number);
    this.log.command(partition, { kind: 'ResolveMarket', market: number, payout0 });
  }

  market(number: number): ListedToken['market'] {
    const found = this.markets.get(number);
    if (found === undefined) throw new Error(`there is no market ${number}`);
    return found;
  }

  token(number: number, outcome: 0 | 1): ListedToken {
    const market = this.market(number);
    const conditionId = conditionIdFromBytes(market.conditionId);
    return { market, conditionId, outcome } as unknown as ListedToken;
  }

  get defects(): Defects {
    return this.#options.defects ?? {};
  }

  get keccak() {
    return keccak;
  }

  /** An operator's deposit is durable; sent again, it has the same id. */
  deposit(number: number, wallet: number, amountMicro: number): void {
    const transferId = createHash('sha256').update(`deposit ${number}`).digest();
    const transfer = { transferId, wallet: hexBytes(walletOf(wallet)), amountMicro };
    const value = this.log.encode({ ...transfer, timeMs: this.nowMs, generation: 0 });
    this.log.append({ topic: 'transfers', partition: 0, key: null, value });
  }

  /** Time passes, and the owners of the partitions say so. */
  async tick(ms: number): Promise<void> {
    this.nowMs += ms;
    this.retries.nowMs = this.nowMs;
    for (let partition = 0; partition < partitionCount; partition += 1)
      this.log.command(partition, { kind: 'Tick', term: 0, timeMs: this.nowMs });
    for (const ingress of this.#ingresses) await ingress.read();
  }

  /** A process of ingress dies, and another one starts. */
  killIngress(index: number, doRecordsArrive: boolean): void {
    const at = index % this.#ingresses.length;
    this.calls.kill(this.ingress(at), doRecordsArrive);
    this.#ingresses[at] = this.#newIngress(at);
  }

  killProjector(index: number): void {
    const at = index % this.#projectors.length;
    this.#projectors[at] = this.#newProjector(at);
  }

  /** The memory of idempotency keys is gone. */
  forgetRetries(): void {
    this.retries = new RetryMemory();
    this.retries.nowMs = this.nowMs;
  }

  /** Everything in Redis is gone. */
  async loseRedis(): Promise<void> {
    const { redis, prefix } = this.#options;
    const keys = await redis.keys(`${prefix}:*`);
    if (keys.length > 0) await redis.del(...keys);
  }

  /** Remembers Redis as it is, for a run of the server that comes back without its last writes. */
  async saveRedis(): Promise<void> {
    const { redis, prefix } = this.#options;
    const saved = new Map<string, Buffer>();
    for (const key of await redis.keys(`${prefix}:*`)) {
      const bytes = await redis.dumpBuffer(key);
      if (bytes !== null) saved.set(key, bytes as unknown as Buffer);
    }
    this.#saved = saved;
  }

  /** The server comes back as it was when it was saved: another run of it. */
  async rewindRedis(): Promise<void> {
    if (this.#saved === null) return;
    const { redis, prefix } = this.#options;
    await this.loseRedis();
    for (const [key, bytes] of this.#saved) await redis.restore(key, 0, bytes);
    const { ledgerState } = redisKeys(prefix);
    if ((await redis.exists(ledgerState)) === 1) await redis.hset(ledgerState, 'life', 'another');
    this.#saved = null;
  }

  /**
   * Lets everything come to its end: calls, records, delays, orphaned reservations. Throws `BrokenMoney` when it does
   * not.
   */
  async settle(fate: Fate = 'done'): Promise<void> {
    for (let round = 0; round < settleRoundsMax; round += 1) {
      await this.#drain(fate);
      await this.tick(round % 4 === 3 ? 35_000 : 1_000);
      if (round % 4 === 0) await this.tick(4_000);
      await this.#drain(fate);
      for (const projector of this.#projectors) await projector.check();
      if (round >= settleRoundsMin && (await this.#isSettled())) return;
    }
    throw new BrokenMoney(`does not settle: ${this.calls.labels().join(', ')}`);
  }

  /** The fold goes on until the ledger is open; calls of ingress stay where they are. */
  async foldAgain(): Promise<void> {
    for (let round = 0; round < foldRoundsMax; round += 1) {
      await this.projector(0).check();
      await this.#fold();
      if (this.projector(0).isOpen) return;
    }
    throw new BrokenMoney('the ledger does not open');
  }

  async #drain(fate: Fate): Promise<void> {
    const { calls, log } = this;
    // A request comes to its first call before time passes; the matcher refuses what is seconds old.
    await turn();
    for (let count = 0; calls.count > 0 && count < drainCallsMax; count += 1)
      await calls.resume(0, fate);
    for (const arrive of log.late.splice(0)) await arrive();
    await this.#fold();
  }

  async #fold(): Promise<void> {
    for (let partition = 0; partition < partitionCount; partition += 1)
      this.log.match(partition, Number.POSITIVE_INFINITY);
    for (const ingress of this.#ingresses) await ingress.read();
    for (let partition = 0; partition < partitionCount; partition += 1)
      await this.projector(0).fold(partition, 10_000);
    await this.projector(0).foldTransfers(10_000);
  }

  async #isSettled(): Promise<boolean> {
    if (this.calls.count > 0 || !this.projector(0).isOpen || this.log.late.length > 0) return false;
    for (const wallet of this.wallets()) {
      if ((await this.ledger.balance(wallet)).pendingMicro !== 0) return false;
    }
    return true;
  }

  /** All wallets that have moved money. */
  wallets(): readonly WalletAddress[] {
    return [...this.judge.money.keys()] as WalletAddress[];
  }

  /** The ledger in Redis says what plain addition says. */
  async compareLedger(): Promise<void> {
    for (const wallet of this.wallets()) {
      const { freeMicro, heldMicro } = await this.ledger.balance(wallet);
      const { free, held } = this.judge.balance(wallet);
      if (freeMicro !== free || heldMicro !== held) {
        throw new BrokenMoney(
          `${wallet} has ${free} and ${held} by addition, ${freeMicro} and ${heldMicro} in Redis`,
        );
      }
    }
    const [frozen] = this.frozen.keys();
    if (frozen !== undefined) throw new BrokenMoney(`${frozen} was frozen`);
  }

  close(): Promise<void> {
    return this.loseRedis();
  }
}

/** Rounds until everything has ended: delays, orphans and fences need about eight. */
const settleRoundsMin = 1;
const settleRoundsMax = 60;
const foldRoundsMax = 20;
const drainCallsMax = 10_000;

/** A client that changes scripts before they are carried out; they are found by their text, not by its hash. */
function spoiledRedis(redis: RedisClient, { part, instead }: NonNullable<Defects['script']>) {
  const missing = new Fault('redis_refused', 'retry', { facts: { reply: 'NOSCRIPT' } });
  return new Proxy(redis, {
    get(target, name) {
      if (name === 'evalsha') return () => Promise.reject(missing);
      if (name === 'eval') {
        return (lua: string, ...rest: [number, ...string[]]) =>
          target.eval(lua.replaceAll(part, instead), ...rest);
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
