import { writeDigits } from './digits.ts';

/** Bytes of `2026-01-31 12:00:00.123`, and of it without fractions. */
export const clockBytes = 23;
export const secondBytes = 19;

const dayMs = 86_400_000;

/** The time that stands for none. */
export const epoch: Uint8Array = Buffer.from('1970-01-01 00:00:00.000');

/** Writes moments as ClickHouse reads them, UTC. It remembers the newest: all rows of a record have the same time. */
export class ClockText {
  readonly #text = Uint8Array.from(epoch);
  #ms = 0;
  #day = 0;

  /** Unix milliseconds; the bytes are good until the next call. */
  at(ms: number): Uint8Array {
    if (ms === this.#ms) return this.#text;
    this.#ms = ms;
    const day = Math.floor(ms / dayMs);
    if (day !== this.#day) this.#writeDay(day);
    const inDay = ms - day * dayMs;
    const seconds = Math.floor(inDay / 1_000);
    writeDigits(this.#text, { at: 11, digits: 2 }, Math.floor(seconds / 3_600));
    writeDigits(this.#text, { at: 14, digits: 2 }, Math.floor(seconds / 60) % 60);
    writeDigits(this.#text, { at: 17, digits: 2 }, seconds % 60);
    writeDigits(this.#text, { at: 20, digits: 3 }, inDay % 1_000);
    return this.#text;
  }

  #writeDay(day: number): void {
    this.#day = day;
    const text = new Date(day * dayMs).toISOString();
    for (let index = 0; index < 10; index += 1) this.#text[index] = text.charCodeAt(index);
  }
}
