import { streamLimits } from '@pm/schemas/streams/limits';
import type { ConnectionMemoryBudget } from './connection-memory-budget.ts';

const minuteMs = 60_000;
/** Addresses that are remembered; beyond it the oldest minute is forgotten first. */
const addressesMax = 100_000;

/** Counts connections: all of them, by address and by key. */
export class ConnectionCounts {
  readonly #room: Pick<ConnectionMemoryBudget, 'closeConnection' | 'openConnection'>;
  readonly #open = new Map<string, number>();
  readonly #opened = new Map<string, { readonly sinceMs: number; count: number }>();

  constructor(room: Pick<ConnectionMemoryBudget, 'closeConnection' | 'openConnection'>) {
    this.#room = room;
  }

  get addresses(): number {
    return this.#open.size;
  }

  /** Whether one more connection of the address is within the limits, and there is room; it is counted then. */
  open(address: string, nowMs: number): boolean {
    const { connections_per_address: max, connections_opened_per_minute: perMinute } = streamLimits;
    if (this.#openedSince(address, nowMs) > perMinute) return false;
    if (!this.#room.openConnection(address)) return false;
    if (this.#add(`address|${address}`, max)) return true;
    this.#room.closeConnection(address);
    return false;
  }

  close(address: string): void {
    this.#room.closeConnection(address);
    this.#remove(`address|${address}`);
  }

  /** Whether one more connection of a proven key is within the limit; it is counted then. */
  openKey(apiKey: string): boolean {
    return this.#add(`key|${apiKey}`, streamLimits.connections_per_key);
  }

  closeKey(apiKey: string): void {
    this.#remove(`key|${apiKey}`);
  }

  #add(name: string, max: number): boolean {
    const count = this.#open.get(name) ?? 0;
    if (count >= max) return false;
    this.#open.set(name, count + 1);
    return true;
  }

  #remove(name: string): void {
    const count = this.#open.get(name) ?? 0;
    if (count > 1) this.#open.set(name, count - 1);
    else this.#open.delete(name);
  }

  /** Connections that the address has opened in this minute, with this one. */
  #openedSince(address: string, nowMs: number): number {
    const known = this.#opened.get(address);
    if (known !== undefined && nowMs - known.sinceMs < minuteMs) {
      known.count += 1;
      return known.count;
    }
    this.#opened.delete(address);
    this.#opened.set(address, { sinceMs: nowMs, count: 1 });
    if (this.#opened.size > addressesMax) {
      const [oldest] = this.#opened.keys();
      if (oldest !== undefined) this.#opened.delete(oldest);
    }
    return 1;
  }
}

/** A bucket of frames: a burst of twice the rate, filled by the rate. */
export class FrameBucket {
  readonly #perSecond: number;
  #frames: number;
  #atMs: number;

  constructor(nowMs: number, perSecond: number = streamLimits.frames_per_second) {
    this.#perSecond = perSecond;
    this.#frames = perSecond * 2;
    this.#atMs = nowMs;
  }

  /** Whether one more frame is within the rate. */
  take(nowMs: number): boolean {
    const filled = this.#frames + ((nowMs - this.#atMs) / 1_000) * this.#perSecond;
    this.#frames = Math.min(this.#perSecond * 2, filled);
    this.#atMs = nowMs;
    if (this.#frames < 1) return false;
    this.#frames -= 1;
    return true;
  }
}
