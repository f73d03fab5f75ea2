import type { Execution, Fill } from '@pm/schemas/log/executions';
import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../tables/row-memory.ts';
import { RowWriter, type TableRows } from '../tables/row-writer.ts';
import { TakersAccepted } from './takers-accepted.ts';
import { type RowSource, type View, writeSource } from './view.ts';

const noBuilder = Buffer.alloc(32);

/**
 * Tables `fills` (one row for each fill), `wallet_fills` and `tape` (one for each wallet of a fill), `builder_fills`
 * (one for each builder named).
 */
export class FillsView implements View {
  readonly #partition: number;
  readonly #fills: RowWriter;
  readonly #walletFills: RowWriter;
  readonly #tape: RowWriter;
  readonly #builderFills: RowWriter;

  constructor(partition: number, memory: RowMemory) {
    this.#partition = partition;
    this.#fills = new RowWriter(tables.fills, memory);
    this.#walletFills = new RowWriter(tables.walletFills, memory);
    this.#tape = new RowWriter(tables.tape, memory);
    this.#builderFills = new RowWriter(tables.builderFills, memory);
  }

  get pendingRows(): number {
    return this.#all().reduce((sum, { count }) => sum + count, 0);
  }

  fold({ events, inOffset, timeMs }: Execution, appendedAtMs: number): void {
    const partition = this.#partition;
    const accepted = new TakersAccepted(events);
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event?.kind !== 'Fill') continue;
      const source = { partition, inOffset, index, timeMs, appendedAtMs };
      writeFill(writeSource(this.#fills, source), event, accepted.atMs(event, index));
      writeTaker(writeSource(this.#walletFills, source), event);
      writeMaker(writeSource(this.#walletFills, source), event);
      this.#writePublicRows(source, event);
    }
  }

  take(): readonly TableRows[] {
    return this.#all().map((rows) => rows.take());
  }

  /** The rows that other users may read. */
  #writePublicRows(source: RowSource, fill: Fill): void {
    writeTakerTape(writeSource(this.#tape, source), fill);
    writeMakerTape(writeSource(this.#tape, source), fill);
    const { takerBuilder, makerBuilder } = fill;
    const rows = this.#builderFills;
    if (!noBuilder.equals(takerBuilder))
      writePublic(writeSource(rows, source), fill).word('TAKER').hex(takerBuilder).end();
    if (!noBuilder.equals(makerBuilder))
      writePublic(writeSource(rows, source), fill).word('MAKER').hex(makerBuilder).end();
  }

  #all(): readonly RowWriter[] {
    return [this.#fills, this.#walletFills, this.#tape, this.#builderFills];
  }
}

function writeFill(to: RowWriter, fill: Fill, acceptedAtMs: number | null): void {
  to.int(fill.market).word(fill.match).timeOrNone(acceptedAtMs).micro(fill.sizeMicro);
  to.hex(fill.takerOrderId).hex(fill.taker).uuid(fill.takerKey).int(fill.takerOutcome);
  to.word(fill.takerSide).price(fill.takerPrice).hex(fill.takerBuilder);
  to.hex(fill.makerOrderId).hex(fill.maker).uuid(fill.makerKey).int(fill.makerOutcome);
  to.word(fill.makerSide).price(fill.makerPrice).hex(fill.makerBuilder);
  to.micro(fill.feeMicro).int(fill.feeRateBps).end();
}

/** The cells of `fills` without keys and builders. */
function writePublic(to: RowWriter, fill: Fill): RowWriter {
  to.int(fill.market).micro(fill.sizeMicro);
  to.hex(fill.takerOrderId).hex(fill.taker).int(fill.takerOutcome);
  to.word(fill.takerSide).price(fill.takerPrice);
  to.hex(fill.makerOrderId).hex(fill.maker).int(fill.makerOutcome);
  to.word(fill.makerSide).price(fill.makerPrice);
  return to.micro(fill.feeMicro).int(fill.feeRateBps);
}

function writeTaker(to: RowWriter, fill: Fill): void {
  to.hex(fill.taker).word('TAKER').int(fill.market).int(fill.takerOutcome);
  to.word(fill.takerSide).price(fill.takerPrice).micro(fill.sizeMicro).micro(fill.feeMicro);
  to.hex(fill.takerOrderId).uuid(fill.takerKey).end();
}

/** Makers pay no fee (conventions.md 3.15). */
function writeMaker(to: RowWriter, fill: Fill): void {
  to.hex(fill.maker).word('MAKER').int(fill.market).int(fill.makerOutcome);
  to.word(fill.makerSide).price(fill.makerPrice).micro(fill.sizeMicro).micro(0);
  to.hex(fill.makerOrderId).uuid(fill.makerKey).end();
}

function writeTakerTape(to: RowWriter, fill: Fill): void {
  to.word('TAKER').hex(fill.taker).int(fill.market).int(fill.takerOutcome);
  to.word(fill.takerSide).price(fill.takerPrice).micro(fill.sizeMicro).end();
}

function writeMakerTape(to: RowWriter, fill: Fill): void {
  to.word('MAKER').hex(fill.maker).int(fill.market).int(fill.makerOutcome);
  to.word(fill.makerSide).price(fill.makerPrice).micro(fill.sizeMicro).end();
}
