import { microPerUnit, priceOne } from '@pm/schemas/money';
import type { Table } from '@pm/schemas/tables/create-table';
import { isNullable } from '@pm/schemas/tables/create-table';
import { digitsOf, smallDigits, smallEnd, symbolsOf, writeDigits } from './cells.ts';
import { pieceBytes, RowMemory } from './row-memory.ts';

/** Rows of one table as the bytes of ClickHouse's format TabSeparated. */
export interface TableRows {
  readonly table: Table;
  readonly count: number;
  /** In order; each contains whole rows. */
  readonly pieces: readonly Buffer[];
}

const tab = 9;
const lineEnd = 10;
const zero = 48;
const dot = 46;
const dash = 45;
const space = 32;
const backslash = 92;
const lastPrintable = 126;
const capitalN = 78;

/** Memory that an empty writer keeps. */
const ownBytes = 1 << 12;
/** Room for any cell but ids and words, which pass their own length. */
const cellBytes = 32;

const hexOfBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const highDigits = Uint8Array.from(hexOfBytes, (text) => text.charCodeAt(0));
const lowDigits = Uint8Array.from(hexOfBytes, (text) => text.charCodeAt(1));

/** Number of bytes of a UUID after which a dash follows. */
const uuidGroups = [4, 6, 8, 10, 16];

/**
 * Writes rows of a table cell by cell, directly as the bytes sent to ClickHouse: values for single cells would lead the
 * profile of the projector. A row begins with its first cell and ends with `end`.
 *
 *     #pieces  |rows.......|rows.....|     #buffer  |rows.....row beg      |
 *                                                            ^#begun ^#position
 */
export class RowWriter {
  readonly #table: Table;
  readonly #memory: RowMemory;
  readonly #width: number;
  readonly #symbols: readonly (ReadonlyMap<string, number> | null)[];
  readonly #nullable: readonly boolean[];
  readonly #own = Buffer.allocUnsafeSlow(ownBytes);
  #buffer: Buffer = this.#own;
  #pieces: Buffer[] = [];
  #position = 0;
  #begun = 0;
  #cells = 0;
  #count = 0;

  constructor(table: Table, memory: RowMemory = new RowMemory()) {
    this.#table = table;
    this.#memory = memory;
    this.#width = table.columns.length;
    this.#symbols = table.columns.map(symbolsOf);
    this.#nullable = table.columns.map(isNullable);
  }

  /** Rows since the last `take`. */
  get count(): number {
    return this.#count;
  }

  /** The rows since the last call. Their memory belongs to the caller, who may give it back (`RowMemory.giveBack`). */
  take(): TableRows {
    const last = this.#buffer.subarray(0, this.#position);
    const pieces = [...this.#pieces, this.#buffer === this.#own ? Buffer.from(last) : last];
    const taken = { table: this.#table, count: this.#count, pieces };
    this.#pieces = [];
    this.#buffer = this.#own;
    this.#position = 0;
    this.#begun = 0;
    this.#count = 0;
    return taken;
  }

  /** Ends a row; throws unless every column has its cell. */
  end(): void {
    if (this.#cells !== this.#width)
      throw new RangeError(`a row of ${this.#table.name} has ${this.#width} cells`);
    this.#buffer[this.#position - 1] = lineEnd;
    this.#begun = this.#position;
    this.#cells = 0;
    this.#count += 1;
  }

  /** NULL in the next cells. Throws for a column that has none: ClickHouse would write its default value. */
  none(cells = 1): this {
    for (let cell = 0; cell < cells; cell += 1) {
      if (this.#nullable[this.#cells] !== true)
        throw new RangeError(`column ${this.#cells} of ${this.#table.name} is never NULL`);
      this.#reserve(cellBytes);
      this.#buffer[this.#position++] = backslash;
      this.#buffer[this.#position++] = capitalN;
      this.#endCell();
    }
    return this;
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

  /** A symbol of the column's enum, or printable ASCII without blanks and backslashes: codes and ids in text. */
  word(text: string): this {
    const symbols = this.#symbols[this.#cells];
    if (symbols === null || symbols === undefined) return this.#plain(text);
    const symbol = symbols.get(text);
    if (symbol === undefined) throw new RangeError(`not a symbol of the column: ${text}`);
    return this.int(symbol);
  }

  /**
   * Unix milliseconds as a DateTime64(3): seconds in ten digits and a fraction, which ClickHouse reads without a
   * calendar.
   */
  time(ms: number): this {
    this.#reserve(cellBytes);
    const seconds = this.#seconds(ms);
    this.#buffer[this.#position++] = dot;
    this.#padded(ms - seconds * 1_000, 3);
    return this.#endCell();
  }

  /** Unix milliseconds, or NULL. */
  timeOrNone(ms: number | null): this {
    return ms === null ? this.none() : this.time(ms);
  }

  /** Without the fraction, for a DateTime. */
  second(ms: number): this {
    this.#reserve(cellBytes);
    this.#seconds(ms);
    return this.#endCell();
  }

  #seconds(ms: number): number {
    const seconds = Math.floor(ms / 1_000);
    const high = Math.floor(seconds / smallEnd);
    this.#padded(high, 1);
    this.#padded(seconds - high * smallEnd, smallDigits);
    return seconds;
  }

  #plain(text: string): this {
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
    if (this.#position + bytes > this.#buffer.length) this.#extend(bytes);
  }

  /** Continues the unfinished row in the next piece. */
  #extend(bytes: number): void {
    const from = this.#buffer === this.#own ? 0 : this.#begun;
    const moved = this.#position - from;
    if (moved + bytes > pieceBytes)
      throw new RangeError(`a row of ${this.#table.name} is too long`);
    const piece = this.#memory.take();
    this.#buffer.copy(piece, 0, from, this.#position);
    if (from > 0) this.#pieces.push(this.#buffer.subarray(0, from));
    this.#buffer = piece;
    this.#begun -= from;
    this.#position = moved;
  }
}
