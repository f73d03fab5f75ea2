import type { Table } from '@pm/schemas';
import { microPerUnit, priceOne } from '@pm/schemas';
import { ClockText, clockBytes, epoch, secondBytes } from './clock-text.ts';
import { digitsOf, smallDigits, smallEnd, writeDigits } from './digits.ts';

/** Rows of one table as the bytes of ClickHouse's format TabSeparated. */
export interface TableRows {
  readonly table: Table;
  readonly count: number;
  readonly bytes: Buffer;
}

const tab = 9;
const lineEnd = 10;
const zero = 48;
const dot = 46;
const dash = 45;
const space = 32;
const backslash = 92;
const lastPrintable = 126;

const firstBytes = 1 << 12;
/** Larger memory is given away with the rows, so that a writer at rest holds little. */
const keptBytes = 1 << 18;
/** Room for any cell but ids and words, which say what they need. */
const cellBytes = 32;

const highDigits = new Uint8Array(256);
const lowDigits = new Uint8Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  const text = byte.toString(16).padStart(2, '0');
  highDigits[byte] = text.charCodeAt(0);
  lowDigits[byte] = text.charCodeAt(1);
}

/** Behind which bytes of a UUID a dash stands. */
const uuidGroups = [4, 6, 8, 10, 16];

/**
 * Writes rows of a table cell by cell, straight as the bytes that go to ClickHouse: no cell is ever a value of its own, which
 * a profile of the projector shows on top otherwise. A row begins with its first cell and ends with `end`.
 */
export class RowWriter {
  readonly #table: Table;
  readonly #width: number;
  #buffer = Buffer.allocUnsafe(firstBytes);
  readonly #clock = new ClockText();
  #position = 0;
  #cells = 0;
  #count = 0;
  /** Bytes of the last rows if they were many: a busy writer needs as much again, and grows to it in one step. */
  #lastLarge = 0;

  constructor(table: Table) {
    this.#table = table;
    this.#width = table.columns.length;
  }

  /** Rows since the last `take`. */
  get count(): number {
    return this.#count;
  }

  /** The rows since the last call, in memory of their own. */
  take(): TableRows {
    const written = this.#buffer.subarray(0, this.#position);
    const isLarge = written.length > keptBytes;
    const bytes = isLarge ? written : Buffer.from(written);
    if (this.#buffer.length > keptBytes) this.#buffer = Buffer.allocUnsafe(firstBytes);
    this.#lastLarge = isLarge ? written.length : 0;
    const taken = { table: this.#table, count: this.#count, bytes };
    this.#position = 0;
    this.#count = 0;
    return taken;
  }

  /** Ends a row; throws unless every column has its cell. */
  end(): void {
    if (this.#cells !== this.#width)
      throw new RangeError(`a row of ${this.#table.name} has ${this.#width} cells`);
    this.#buffer[this.#position - 1] = lineEnd;
    this.#cells = 0;
    this.#count += 1;
  }

  /** A whole number from 0 on, exact as a double. */
  int(value: number): this {
    this.#reserve(cellBytes);
    this.#digits(value);
    return this.#endCell();
  }

  /** A price in 1/10000 as a decimal without trailing zeros. */
  price(value: number): this {
    return this.#decimal(value, priceOne, 4);
  }

  /** Micro-shares or micro-USDC as a decimal without trailing zeros. */
  micro(value: number): this {
    return this.#decimal(value, microPerUnit, 6);
  }

  /** 0x and lower-case hex digits. */
  hex(bytes: Buffer): this {
    const { length } = bytes;
    this.#reserve(2 * length + 3);
    const buffer = this.#buffer;
    let at = this.#position;
    buffer[at++] = zero;
    buffer[at++] = 120;
    for (let index = 0; index < length; index += 1) {
      const byte = bytes[index] as number;
      buffer[at++] = highDigits[byte] as number;
      buffer[at++] = lowDigits[byte] as number;
    }
    this.#position = at;
    return this.#endCell();
  }

  /** A lower-case UUID. */
  uuid(bytes: Buffer): this {
    this.#reserve(40);
    const buffer = this.#buffer;
    let at = this.#position;
    let index = 0;
    for (const end of uuidGroups) {
      if (index > 0) buffer[at++] = dash;
      for (; index < end; index += 1) {
        const byte = bytes[index] as number;
        buffer[at++] = highDigits[byte] as number;
        buffer[at++] = lowDigits[byte] as number;
      }
    }
    this.#position = at;
    return this.#endCell();
  }

  /** Printable ASCII without blanks and backslashes: symbols of enums, codes, ids that are text. */
  word(text: string): this {
    const { length } = text;
    this.#reserve(length + 1);
    const buffer = this.#buffer;
    let at = this.#position;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code <= space || code > lastPrintable || code === backslash)
        throw new RangeError(`not a word: ${text}`);
      buffer[at++] = code;
    }
    this.#position = at;
    return this.#endCell();
  }

  /** Unix milliseconds as a DateTime64(3): `2026-01-31 12:00:00.123`, UTC. */
  time(ms: number): this {
    return this.#text(ms === 0 ? epoch : this.#clock.at(ms), clockBytes);
  }

  /** The same without fractions, for a DateTime. */
  second(ms: number): this {
    return this.#text(ms === 0 ? epoch : this.#clock.at(ms), secondBytes);
  }

  #text(text: Uint8Array, length: number): this {
    this.#reserve(length + 1);
    const buffer = this.#buffer;
    const from = this.#position;
    for (let index = 0; index < length; index += 1) buffer[from + index] = text[index] as number;
    this.#position = from + length;
    return this.#endCell();
  }

  #decimal(value: number, unit: number, places: number): this {
    this.#reserve(cellBytes);
    if (value < 0) this.#buffer[this.#position++] = dash;
    const magnitude = Math.abs(value);
    const whole = Math.floor(magnitude / unit);
    this.#digits(whole);
    const rest = magnitude - whole * unit;
    if (rest > 0) {
      this.#buffer[this.#position++] = dot;
      this.#padded(rest, places);
      while (this.#buffer[this.#position - 1] === zero) this.#position -= 1;
    }
    return this.#endCell();
  }

  /** Digits without leading zeros. */
  #digits(value: number): void {
    if (value < smallEnd) {
      this.#padded(value, digitsOf(value));
      return;
    }
    const high = Math.floor(value / smallEnd);
    this.#digits(high);
    this.#padded(value - high * smallEnd, smallDigits);
  }

  #padded(value: number, digits: number): void {
    writeDigits(this.#buffer, { at: this.#position, digits }, value);
    this.#position += digits;
  }

  #endCell(): this {
    this.#buffer[this.#position++] = tab;
    this.#cells += 1;
    return this;
  }

  #reserve(bytes: number): void {
    const needed = this.#position + bytes;
    if (needed <= this.#buffer.length) return;
    const likely = this.#lastLarge + (this.#lastLarge >> 3);
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2, likely));
    this.#buffer.copy(grown, 0, 0, this.#position);
    this.#buffer = grown;
  }
}
