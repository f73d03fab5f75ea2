import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import { complementPrice, priceOne } from '@pm/schemas/money';
import { idWords } from '../state/order-results.ts';
import type { State } from '../state/state.ts';

/** Commands that are read ahead. */
export const commandsAhead = 32;
/** Below this too little overlaps. */
const fewCommands = 4;

/**
 * Reads the next commands of a record before the first of them is applied.
 *
 * Promises: names become numbers here, once (a name that has none yet is -1); and the places in memory that the
 * commands will need are read once, a loop for each kind of place. A command alone waits for one place after the other;
 * in a short loop the processor waits for many at once. It changes no state. Numbers stay right for the whole record:
 * unused ones are dropped at its end.
 */
export class LookAhead {
  /** By command: slots of names, -1 for those without. */
  readonly wallets = new Int32Array(commandsAhead);
  readonly accounts = new Int32Array(commandsAhead);
  readonly builders = new Int32Array(commandsAhead);
  /** By command: the id of an order or a cancel, and its hash. */
  readonly ids = new Int32Array(commandsAhead * idWords);
  readonly hashes = new Int32Array(commandsAhead);
  private readonly places = new Places();
  private readonly cancels = new Cancels();

  /** Reads up to `commandsAhead` commands from `from` on. */
  read(state: State, commands: readonly Command[], from: number): void {
    const { places, cancels } = this;
    const count = Math.min(commandsAhead, commands.length - from);
    places.count = 0;
    cancels.count = 0;
    for (let index = 0; index < count; index += 1) {
      const command = commands[from + index] as Command;
      if (command.kind === 'PlaceOrder') this.readPlace(state, command, index, count);
      else if (command.kind === 'CancelOrder') this.readCancel(state, command.orderId, index);
    }
    if (count < fewCommands) return;
    cancels.see(state);
    places.see(state);
  }

  private readCancel(state: State, id: Buffer, index: number): void {
    const hash = state.orderMemory.loadId(id, this.ids, index * idWords);
    this.hashes[index] = hash;
    this.cancels.hashes[this.cancels.count] = hash;
    this.cancels.count += 1;
  }

  private readPlace(state: State, order: PlaceOrder, index: number, count: number): void {
    const wallet = state.wallets.find(order.maker);
    const account = state.accounts.findBoth(order.signer, order.apiKey);
    this.wallets[index] = wallet;
    this.accounts[index] = account;
    this.builders[index] = state.builders.find(order.builder);
    const hash = state.orderMemory.loadId(order.orderId, this.ids, index * idWords);
    this.hashes[index] = hash;
    if (count >= fewCommands && wallet !== -1)
      this.places.add(state, order, { hash, wallet, account });
  }
}

/** Places in memory that orders will need. */
class Places {
  count = 0;
  private readonly ids = new Int32Array(commandsAhead);
  private readonly positions = new Int32Array(commandsAhead);
  private readonly levels = new Int32Array(commandsAhead);
  private readonly heads = new Int32Array(commandsAhead);
  private readonly slots = new Int32Array(commandsAhead);
  private seen = 0;

  add(
    { markets, book, positions, accounts }: State,
    order: PlaceOrder,
    of: { readonly hash: number; readonly wallet: number; readonly account: number },
  ): void {
    const market = markets.find(order.market);
    if (market === undefined || order.price <= 0 || order.price >= priceOne) return;
    const price = order.outcome === 0 ? order.price : complementPrice(order.price);
    const { slot } = market;
    this.ids[this.count] = of.hash;
    this.positions[this.count] = positions.hashOf(of.wallet, slot);
    this.levels[this.count] = book.ladders.wordOf(slot, book.ladders.levelOf(slot, price));
    this.heads[this.count] = of.account === -1 ? -1 : accounts.newest(of.account);
    this.count += 1;
  }

  see({ orderMemory, positions, book }: State): void {
    const { count, slots } = this;
    orderMemory.table.probeAll(this.ids, count, slots);
    positions.table.probeAll(this.positions, count, slots);
    this.seen ^= positions.seeAll(slots, count);
    book.ladders.lastOf(this.levels, count, slots);
    this.seen ^= book.orders.seeAll(slots, count);
    this.seen ^= book.orders.seeOwners(this.heads, count);
  }
}

/** Places in memory that cancels will need. */
class Cancels {
  count = 0;
  readonly hashes = new Int32Array(commandsAhead);
  private readonly slots = new Int32Array(commandsAhead);
  private readonly neighbours = new Int32Array(commandsAhead * 2);
  private readonly others = new Int32Array(commandsAhead * 2);
  private readonly positions = new Int32Array(commandsAhead);
  private readonly levels = new Int32Array(commandsAhead);
  private seen = 0;

  see({ orderMemory, positions, book }: State): void {
    const { slots, neighbours, others } = this;
    orderMemory.table.probeAll(this.hashes, this.count, slots);
    const count = orderMemory.restingOf(slots, this.count);
    book.orders.neighboursOf(slots, count, neighbours);
    book.orders.ownersOf(slots, count, others, this.positions);
    book.levelsOf(slots, count, this.levels);
    this.seen ^= book.orders.seeAll(neighbours, count * 2);
    this.seen ^= book.orders.seeOwners(others, count * 2);
    this.seen ^= positions.seeAll(this.positions, count);
    book.ladders.lastOf(this.levels, count, slots);
  }
}
