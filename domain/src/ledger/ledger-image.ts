import { Fault } from '@pm/kit/fault';
import type { WalletAddress } from '@pm/schemas/ids';
import type { AppliedTransfer, LedgerTopic } from './ledger.ts';

/** How far an image has a partition of the log. */
export interface LedgerPlace {
  readonly topic: LedgerTopic;
  readonly partition: number;
  /** The first offset that it does not have. */
  readonly offset: number;
  /** The newest generation that begins before. */
  readonly generation: number;
  /**
   * For `executions` the clock of the partition at this place, for `transfers` the newest time of a fence; Unix
   * milliseconds.
   */
  readonly timeMs: number;
}

export interface WalletMoney {
  readonly freeMicro: number;
  readonly heldMicro: number;
}

/** The collateral ledger as the log before its places says, without reservations. */
export interface LedgerImage {
  readonly places: readonly LedgerPlace[];
  readonly wallets: ReadonlyMap<WalletAddress, WalletMoney>;
  /** By their ids. */
  readonly transfers: ReadonlyMap<string, AppliedTransfer>;
  /** By their numbers, as their entries in Redis are. */
  readonly markets: ReadonlyMap<string, string>;
  readonly breaches: ReadonlyMap<string, string>;
}

/** Entries of one piece of text: other work of the process goes on between two. */
const linesPerPiece = 5_000;
const newline = 0x0a;

/**
 * The image as lines of text: `w wallet free held`, `t id wallet amount moved`, `m market entry`, `b market entry` and
 * `p topic partition offset generation time`, the last one `end` with the number of lines before it.
 */
export function* encodeLedgerImage(image: LedgerImage): Generator<Buffer> {
  let lines: string[] = [];
  let count = 0;
  for (const line of linesOf(image)) {
    count += 1;
    lines.push(line);
    if (lines.length < linesPerPiece) continue;
    yield Buffer.from(`${lines.join('\n')}\n`);
    lines = [];
  }
  yield Buffer.from(`${[...lines, `end ${count}`].join('\n')}\n`);
}

function* linesOf({ wallets, transfers, markets, breaches, places }: LedgerImage) {
  for (const [wallet, { freeMicro, heldMicro }] of wallets)
    yield `w ${wallet} ${freeMicro} ${heldMicro}`;
  for (const [id, { wallet, amountMicro, movedMicro }] of transfers)
    yield `t ${id} ${wallet} ${amountMicro} ${movedMicro}`;
  for (const [market, entry] of markets) yield `m ${market} ${entry}`;
  for (const [market, entry] of breaches) yield `b ${market} ${entry}`;
  for (const { topic, partition, offset, generation, timeMs } of places)
    yield `p ${topic} ${partition} ${offset} ${generation} ${timeMs}`;
}

/** Reads an image line by line; yields after every few thousand. Throws `checkpoint_unreadable` (skip). */
export class LedgerImageReader {
  readonly #wallets = new Map<WalletAddress, WalletMoney>();
  readonly #transfers = new Map<string, AppliedTransfer>();
  readonly #markets = new Map<string, string>();
  readonly #breaches = new Map<string, string>();
  readonly #places: LedgerPlace[] = [];
  #image: LedgerImage | null = null;

  /** The image; throws unless `read` has come to an end. */
  get image(): LedgerImage {
    if (this.#image === null) throw unreadable('no end');
    return this.#image;
  }

  *read(bytes: Buffer): Generator<void> {
    let count = 0;
    for (let from = 0; from < bytes.length; count += 1) {
      const end = bytes.indexOf(newline, from);
      if (end === -1 || this.#image !== null) throw unreadable('a cut line');
      const line = bytes.toString('latin1', from, end);
      if (line.startsWith('end ')) this.#end(line, count);
      else this.#take(line);
      from = end + 1;
      if (count % linesPerPiece === 0) yield;
    }
  }

  #end(line: string, count: number): void {
    if (line !== `end ${count}`) throw unreadable('missing lines');
    this.#image = {
      places: this.#places,
      wallets: this.#wallets,
      transfers: this.#transfers,
      markets: this.#markets,
      breaches: this.#breaches,
    };
  }

  #take(line: string): void {
    const [kind, name = '', ...rest] = line.split(' ');
    if (kind === 'w') {
      const [freeMicro, heldMicro] = exact(rest, 2);
      this.#wallets.set(name as WalletAddress, { freeMicro, heldMicro });
    } else if (kind === 't') {
      const [wallet = '', ...amounts] = rest;
      const [amountMicro, movedMicro] = exact(amounts, 2);
      this.#transfers.set(name, { wallet: wallet as WalletAddress, amountMicro, movedMicro });
    } else if (kind === 'm') this.#markets.set(name, rest.join(' '));
    else if (kind === 'b') this.#breaches.set(name, rest.join(' '));
    else if (kind === 'p' && (name === 'executions' || name === 'transfers')) {
      const [partition, offset, generation = 0, timeMs = 0] = exact(rest, 4);
      this.#places.push({ topic: name, partition, offset, generation, timeMs });
    } else throw unreadable('an unknown line');
  }
}

function exact(texts: readonly string[], count: number): [number, number, ...number[]] {
  const values = texts.map(Number);
  if (values.length !== count || !values.every(Number.isSafeInteger))
    throw unreadable('an amount that is none');
  const [first = 0, second = 0, ...more] = values;
  return [first, second, ...more];
}

function unreadable(why: string): Fault {
  return new Fault('checkpoint_unreadable', 'skip', { facts: { why } });
}
