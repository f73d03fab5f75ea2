import { Random } from '@pm/kit/random';

/** Something that happens at a moment of the simulated time. */
export interface Planned {
  cancel(): void;
}

/** Owner of scheduled events. */
export interface Owner {
  readonly isAlive: boolean;
  /** Its events wait until then. */
  readonly pausedUntilMs: number;
  /** Events that were carried out, where the owner counts them. */
  events?: number;
}

interface Event {
  timeMs: number;
  order: number;
  readonly owner: Owner | null;
  run: (() => void) | null;
}

/** The real one: everything that waits for promises only has run when it comes. */
const realImmediate = setImmediate;

const idle = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

/**
 * The simulated time: a queue of events, carried out one after the other on one thread. An event belongs to a machine,
 * or to the world outside of all; all code that it causes has come to its next wait before the next event begins. With
 * the same seed everything happens in the same order.
 */
export class Scheduler {
  readonly random: Random;
  nowMs: number;
  /** The machine whose code runs now. */
  current: Owner | null = null;
  /** Events that were carried out. */
  events = 0;
  /** Hash of the order of all events: two runs of a seed agree in it. */
  trace = 0;
  readonly #heap: Event[] = [];
  #order = 0;

  constructor(seed: number, startMs: number) {
    this.random = new Random(seed);
    this.nowMs = startMs;
  }

  /** Plans an event of a machine; one of a machine that is dead by then never happens, one of a paused one later. */
  after(delayMs: number, owner: Owner | null, run: () => void): Planned {
    const event = { timeMs: this.nowMs + delayMs, order: this.#order, owner, run };
    this.#order += 1;
    this.#push(event);
    return {
      cancel: () => {
        (event as Event).run = null;
      },
    };
  }

  /** Lets time pass up to a moment. Rethrows what events of the world throw. */
  async runUntil(untilMs: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined; next = this.#heap[0]) {
      if (next.timeMs > untilMs) break;
      this.#pop();
      if (next.run === null) continue;
      this.nowMs = Math.max(this.nowMs, next.timeMs);
      if (!this.#mayRun(next)) continue;
      this.events += 1;
      this.trace = (Math.imul(this.trace, 31) + next.order + Math.round(this.nowMs * 8)) | 0;
      this.current = next.owner;
      if (next.owner?.events !== undefined) next.owner.events += 1;
      next.run();
      if (next.owner !== null) await idle();
      this.current = null;
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  /** Lets time pass until work that waits for it has ended. */
  async runWhile<T>(work: Promise<T>): Promise<T> {
    let isRunning = true;
    const end = () => {
      isRunning = false;
    };
    work.then(end, end);
    await idle();
    while (isRunning) {
      await this.runUntil(this.nowMs + 1);
      await idle();
    }
    return await work;
  }

  #mayRun(event: Event): boolean {
    const { owner } = event;
    if (owner === null) return true;
    if (!owner.isAlive) return false;
    if (owner.pausedUntilMs <= this.nowMs) return true;
    event.timeMs = owner.pausedUntilMs;
    event.order = this.#order++;
    this.#push(event);
    return false;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[at] = heap[parent] as Event;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const isRight = right < heap.length && isBefore(heap[right] as Event, heap[left] as Event);
      const child = isRight ? right : left;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.timeMs < other.timeMs || (one.timeMs === other.timeMs && one.order < other.order);
}
