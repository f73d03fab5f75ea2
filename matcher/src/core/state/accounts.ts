import { putWords } from '@pm/schemas/avro/bytes';
import { at, type OrderPool } from '../book/order-pool.ts';
import { Interned } from './interned.ts';
import { signerWords } from './order-results.ts';

/**
 * Accounts: a signer together with an API key, and their resting orders as a linked list. Every order of a signer or of
 * a key is found without a search through the orders of others.
 */
export class Accounts extends Interned {
  private readonly orders: OrderPool;
  private readonly ofSigner = new Map<string, Set<number>>();
  private readonly ofKey = new Map<string, Set<number>>();

  constructor(orders: OrderPool) {
    super(signerWords + keyWords, 1);
    this.orders = orders;
  }

  /** The account of a signer and an API key, or -1. */
  findBoth(signer: Buffer, apiKey: Buffer): number {
    return this.table.findParts(signer, apiKey);
  }

  /** The account of a signer and an API key, added if there is none; a new one is unused until `hold`. */
  open(signer: Buffer, apiKey: Buffer): number {
    const found = this.findBoth(signer, apiKey);
    if (found !== -1) return found;
    const account = this.add();
    this.setHead(account, -1);
    join(this.ofSigner, nameOf(signer), account);
    join(this.ofKey, nameOf(apiKey), account);
    return account;
  }

  signer(account: number): Buffer {
    return this.table.bytes(account, 0, signerBytes);
  }

  apiKey(account: number): Buffer {
    return this.table.bytes(account, signerWords, keyWords * 4);
  }

  /** Writes the API key at `to`; returns the place behind it. */
  putApiKey(account: number, view: DataView, to: number): number {
    const { ints, stride } = this.table;
    return putWords(view, to, ints, account * stride + signerWords, keyWords);
  }

  /** The newest resting order of an account, or -1. */
  newest(account: number): number {
    return this.head(account);
  }

  /** Puts an order whose account is set into its list. */
  link(account: number, order: number): void {
    const head = this.head(account);
    this.orders.set(order, at.accountPrevious, -1);
    this.orders.set(order, at.accountNext, head);
    if (head !== -1) this.orders.set(head, at.accountPrevious, order);
    this.setHead(account, order);
    this.hold(account);
  }

  unlink(order: number): void {
    const account = this.orders.get(order, at.account);
    const previous = this.orders.get(order, at.accountPrevious);
    const next = this.orders.get(order, at.accountNext);
    if (previous === -1) this.setHead(account, next);
    else this.orders.set(previous, at.accountNext, next);
    if (next !== -1) this.orders.set(next, at.accountPrevious, previous);
    this.release(account);
  }

  /** Resting orders of a signer, of a key, or of both together, in no particular order. */
  restingOrders(signer: Buffer | null, apiKey: Buffer | null): number[] {
    const found: number[] = [];
    for (const account of this.named(signer, apiKey)) {
      let order = this.head(account);
      for (; order !== -1; order = this.orders.get(order, at.accountNext)) found.push(order);
    }
    return found;
  }

  protected override dropping(account: number): void {
    leave(this.ofSigner, nameOf(this.signer(account)), account);
    leave(this.ofKey, nameOf(this.apiKey(account)), account);
  }

  /** The accounts of a signer, of a key, or of both together. */
  named(signer: Buffer | null, apiKey: Buffer | null): readonly number[] {
    const signed = signer === null ? undefined : (this.ofSigner.get(nameOf(signer)) ?? none);
    const keyed = apiKey === null ? undefined : (this.ofKey.get(nameOf(apiKey)) ?? none);
    if (signed === undefined) return [...(keyed ?? none)];
    return [...signed].filter((account) => keyed === undefined || keyed.has(account));
  }

  private head(account: number): number {
    return this.table.ints[account * this.table.stride + headAt] as number;
  }

  private setHead(account: number, order: number): void {
    this.table.ints[account * this.table.stride + headAt] = order;
  }
}

const signerBytes = signerWords * 4;
const keyWords = 4;
const headAt = signerWords + keyWords + 1;
const none: ReadonlySet<number> = new Set<number>();

function nameOf(bytes: Buffer): string {
  return bytes.toString('latin1');
}

function join(groups: Map<string, Set<number>>, name: string, member: number): void {
  const group = groups.get(name);
  if (group === undefined) groups.set(name, new Set([member]));
  else group.add(member);
}

function leave(groups: Map<string, Set<number>>, name: string, member: number): void {
  const group = groups.get(name);
  group?.delete(member);
  if (group?.size === 0) groups.delete(name);
}
