import type { Execution } from '@pm/schemas/log/executions';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import { bookAgeLimitMs } from './exchange-facts.ts';

type Check = (holds: boolean, promise: string) => void;

/**
 * Judges the bookings of one partition by plain rules, record by record:
 *
 *   - no order is booked by a clock at which its time to book is over, nor with money of an old generation;
 *   - an order with a limit of its own is booked by a tick, since the clock says nothing between two;
 *   - what was booked since a tick, and is older than the limit of all orders by the next, neither stays nor trades.
 */
export class BookingJudge {
  readonly #check: Check;
  #generation = 0;
  /** By id: orders held for the next tick, and for the newest; those not placed by it wait for a taker delay. */
  #held = new Map<string, PlaceOrder>();
  #due = new Map<string, PlaceOrder>();
  /** By id: orders that rest and have seen no tick, and those that were late by one. */
  #unseen = new Map<string, PlaceOrder>();
  readonly #late = new Set<string>();
  #clockMs = 0;

  constructor(check: Check) {
    this.#check = check;
  }

  /** The next record that was not rejected, and what became of it. */
  take(commands: readonly Command[], { events, timeMs }: Execution): void {
    const isTick = commands.every(({ kind }) => kind === 'Tick');
    const isRefused = events.some(({ kind }) => kind === 'CommandRefused');
    if (isTick && !isRefused) this.#tick(timeMs, events);
    for (const event of events) {
      if (event.kind === 'OrderCanceled') this.#ended(hex(event.orderId));
      if (event.kind === 'Fill') this.#filled(hex(event.makerOrderId), event.makerRestMicro);
      if (event.kind === 'OrderDelayed' && event.releaseAtMs === 0)
        this.#held.set(hex(event.orderId), copyOf(commands[event.command]));
      if (event.kind === 'OrderPlaced') this.#placed(event, { commands, timeMs });
    }
    for (const command of commands)
      if (command.kind === 'StartGeneration')
        this.#generation = Math.max(this.#generation, command.generation);
  }

  /** A tick may be that of a witness, which moves no clock: then nothing can be late that was not. */
  #tick(timeMs: number, events: Execution['events']): void {
    const ended = new Set(
      events.flatMap((one) => (one.kind === 'OrderCanceled' ? [hex(one.orderId)] : [])),
    );
    for (const [id, { acceptedAtMs }] of this.#unseen) {
      if (timeMs - acceptedAtMs <= bookAgeLimitMs) continue;
      this.#unseen.delete(id);
      this.#check(ended.has(id), `order ${id} stays ${timeMs - acceptedAtMs} ms late`);
      this.#late.add(id);
    }
    [this.#due, this.#held] = [this.#held, new Map()];
    if (timeMs > this.#clockMs) this.#unseen = new Map();
    this.#clockMs = timeMs;
  }

  #placed(
    event: Extract<Execution['events'][number], { kind: 'OrderPlaced' }>,
    { commands, timeMs }: { readonly commands: readonly Command[]; readonly timeMs: number },
  ): void {
    const id = hex(event.orderId);
    const held = this.#due.get(id);
    const own = event.command < 0 ? null : copyOf(commands[event.command]);
    const order = held ?? own;
    if (order === null) return;
    this.#check(
      held !== undefined || order.ageLimitMs === 0,
      `order ${id} was booked without a tick`,
    );
    const limitMs =
      order.ageLimitMs > 0 ? Math.min(order.ageLimitMs, bookAgeLimitMs) : bookAgeLimitMs;
    const lateMs = timeMs - order.acceptedAtMs;
    this.#check(lateMs <= limitMs, `order ${id} was booked ${lateMs} ms after it was accepted`);
    const isOld = own !== null && order.holdMicro > 0 && order.generation < this.#generation;
    this.#check(!isOld, `order ${id} was booked with money of generation ${order.generation}`);
    if (event.status === 'LIVE') this.#unseen.set(id, order);
  }

  #filled(id: string, restMicro: number): void {
    this.#check(!this.#late.has(id), `order ${id} trades though it was late`);
    if (restMicro === 0) this.#ended(id);
  }

  #ended(id: string): void {
    this.#unseen.delete(id);
    this.#late.delete(id);
  }
}

/** Decoded commands are used again for the next record. */
const copyOf = (command: Command | undefined): PlaceOrder => ({ ...(command as PlaceOrder) });

const hex = (bytes: Buffer): string => bytes.toString('hex');
