import { randomUUID } from 'node:crypto';
import { Fault } from '@pm/kit/fault';
import {
  type DefinedScript,
  defineScript,
  type RedisClient,
  type ScriptArgument,
} from '@pm/kit/redis';
import type { RedisKeys } from '@pm/schemas/redis/keys';
import type { LedgerTopic } from './ledger.ts';
import type { LedgerImage } from './ledger-image.ts';
import {
  beginRestoreLua,
  busyRestoreLua,
  clearRestoreLua,
  endRestoreLua,
  writeRestoreLua,
} from './restore-lua.ts';

/** Mark of the ledger that a caller has found lost, with its value at that time. */
export interface LostMark {
  readonly topic: LedgerTopic;
  readonly partition: number;
  readonly mark: number;
}

/** `moved`: the mark has changed since. `busy`: another process restores. */
export type RestoreResult = 'restored' | 'busy' | 'moved';

/** A process that restores and makes no step for so long by the clock of Redis is replaced, milliseconds. */
const leaseMs = 10_000;
/** Keys of one look at the server, and entries of one script. */
const scannedKeys = 1_000;
const entriesPerCall = 500;

type Entry = readonly [kind: string, name: string, first: ScriptArgument, second: ScriptArgument];

/** Puts images of the ledger into Redis in place of what is there. Rejects with the faults of `openRedis`. */
export class LedgerRestore {
  readonly #redis: RedisClient;
  readonly #keys: RedisKeys;
  readonly #busy: DefinedScript<number>;
  readonly #begin: DefinedScript<'begun' | 'busy' | 'moved'>;
  readonly #clear: DefinedScript<number>;
  readonly #write: DefinedScript<number>;
  readonly #end: DefinedScript<number>;

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#redis = redis;
    this.#keys = keys;
    this.#busy = defineScript(redis, 'ledgerRestoreBusy', busyRestoreLua, 1);
    this.#begin = defineScript(redis, 'ledgerRestoreBegin', beginRestoreLua, 2);
    this.#clear = defineScript(redis, 'ledgerRestoreClear', clearRestoreLua, 1);
    this.#write = defineScript(redis, 'ledgerRestoreWrite', writeRestoreLua, 5);
    this.#end = defineScript(redis, 'ledgerRestoreEnd', endRestoreLua, 2);
  }

  /** Whether nothing was ever applied here, or everything is lost. */
  async isEmpty(): Promise<boolean> {
    return (await this.#redis.exists(this.#keys.ledgerMarks)) === 0;
  }

  /** Whether a process restores, or has died meanwhile. */
  async isUnderWay(): Promise<boolean> {
    return (await this.#redis.hexists(this.#keys.ledgerState, 'restore')) === 1;
  }

  /** Whether another process restores, and has made a step within the lease. */
  async isBusy(): Promise<boolean> {
    return (await this.#busy.run([this.#keys.ledgerState], [leaseMs])) === 1;
  }

  /**
   * Closes the ledger, removes all of it with its reservations, and writes the image; its marks last, so that nothing
   * is applied before. The partitions refuse what was reserved before under the generation that opens it again. Rejects
   * with `ledger_restore_lost` (release) when another process has taken over meanwhile.
   */
  async run(image: LedgerImage, lost: LostMark): Promise<RestoreResult> {
    const { ledgerState, ledgerMarks } = this.#keys;
    const id = randomUUID();
    const field = `${lost.topic}:${lost.partition}`;
    const begun = await this.#begin.run(
      [ledgerState, ledgerMarks],
      [id, leaseMs, field, lost.mark],
    );
    if (begun !== 'begun') return begun;
    await this.#removeAll(id);
    // Once more: a cancel of an order whose reservation was still there may have made the key of its wallet again.
    await this.#removeAll(id);
    await this.#writeAll(id, image);
    const marks = marksOf(image);
    requireOwn(await this.#end.run([ledgerState, ledgerMarks], [id, ...marks]));
    return 'restored';
  }

  async #removeAll(id: string): Promise<void> {
    const { ledgerState } = this.#keys;
    const pattern = ledgerState.replace(/state$/, '*');
    let cursor = '0';
    do {
      const scanned = await this.#redis.scan(cursor, 'MATCH', pattern, 'COUNT', scannedKeys);
      const [next, found] = scanned;
      cursor = next;
      if (found.length > 0) requireOwn(await this.#clear.run([ledgerState], [id, ...found]));
    } while (cursor !== '0');
  }

  async #writeAll(id: string, image: LedgerImage): Promise<void> {
    const { ledgerState, ledgerTransfers, ledgerMarkets, ledgerBreaches } = this.#keys;
    const keys = [ledgerState, ledgerTransfers, ledgerMarkets, ledgerBreaches];
    const scriptKeys = [...keys, this.#keys.ledgerInsolvent];
    for (const entries of chunksOf(entriesOf(image))) {
      const args = [id, this.#keys.walletPrefix, ...entries.flat()];
      requireOwn(await this.#write.run(scriptKeys, args));
    }
  }
}

function* entriesOf({ wallets, transfers, markets, breaches }: LedgerImage): Generator<Entry> {
  for (const [wallet, { freeMicro, heldMicro }] of wallets)
    yield ['wallet', wallet, freeMicro, heldMicro];
  for (const [id, { wallet, amountMicro, movedMicro }] of transfers)
    yield ['transfer', id, `${wallet} ${amountMicro} ${movedMicro}`, ''];
  for (const [market, entry] of markets) yield ['market', market, entry, ''];
  for (const [market, entry] of breaches) yield ['breach', market, entry, ''];
}

function* chunksOf(entries: Iterable<Entry>): Generator<readonly Entry[]> {
  let chunk: Entry[] = [];
  for (const entry of entries) {
    chunk.push(entry);
    if (chunk.length < entriesPerCall) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

function marksOf({ places }: LedgerImage): readonly ScriptArgument[] {
  return places.flatMap(({ topic, partition, offset, generation, timeMs }) => {
    const field = `${topic}:${partition}`;
    const time = topic === 'executions' ? `${field}:clock` : `${field}:fence`;
    return [field, offset, `${field}:generation`, generation, time, timeMs];
  });
}

function requireOwn(isOwn: number): void {
  if (isOwn !== 1) throw new Fault('ledger_restore_lost', 'release');
}
