import { Fault } from '@pm/kit/fault';
import { isStall } from '@pm/kit/kafka';
import { ChangeSignal } from './change-signal.io.ts';
import type { OutputSlice } from './execution-writer.io.ts';
import { isCopy } from './output-places.io.ts';
import type { StoredExecutions, StoredOutput } from './stored-executions.io.ts';
import type { UnseenOutputs } from './unseen-outputs.ts';

/** A record of `executions` as it is read. */
interface StoredRecord {
  readonly offset: number;
  readonly value: Buffer | null;
}

/** Reads the records of `executions` of one partition from an offset on, batch by batch, until `close`. */
export type OpenCopies = (options: {
  readonly from: number;
  onRecords(records: readonly StoredRecord[]): Promise<void>;
  onFault(fault: Fault): void;
}) => Promise<{ close(): Promise<void> }>;

interface CopyReadingParts {
  /** First offset to read. */
  readonly from: number;
  readonly unseen: UnseenOutputs<OutputSlice>;
  readonly executions: Pick<StoredExecutions, 'identify' | 'find' | 'bounds'>;
  readonly open: OpenCopies;
  /** Offset of the input that is processed next. */
  nextInput(): number;
  /** The copy of the first output is stored at this offset; with the slice that it ends, if it does. */
  onSeen(slice: OutputSlice | null, offset: number): void;
  /** Outputs were stored once more: so many records. */
  onCopies(count: number): void;
  /** Called once: `outputs_differ` and `execution_gap` (release), and the faults of reading. */
  onFault(error: unknown): void;
}

/** Reading of a standby: the outputs of the owner, each compared with its own one. */
export class CopyReading {
  readonly #parts: CopyReadingParts;
  readonly #changes = new ChangeSignal();
  #next: number;
  /** Where to read again. */
  #rewindTo: number | null = null;
  /** Late copies among the records that are being taken. */
  #copies = 0;
  #hasEnded = false;

  constructor(parts: CopyReadingParts) {
    this.#parts = parts;
    this.#next = parts.from;
    void this.#run();
  }

  /** The replica has more outputs. */
  onOutputs(): void {
    this.#changes.give();
  }

  /** Offset after the last record that was taken. */
  get next(): number {
    return this.#next;
  }

  /** Reads on with another reader. */
  reopen(): void {
    this.#rewindTo ??= this.#next;
    this.#changes.give();
  }

  /** Sees nothing any more. Gives the offset after the last record that was taken. */
  end(): number {
    this.#hasEnded = true;
    this.#changes.give();
    return this.#next;
  }

  async #run(): Promise<void> {
    try {
      while (!this.#hasEnded) {
        this.#rewindTo = null;
        const reader = await this.#parts.open({
          from: this.#next,
          onRecords: (records) => this.#take(records).catch((error) => this.#fail(error)),
          // A reader that stands still for a while goes on by itself; nothing else does.
          onFault: (fault) => {
            if (!isStall(fault)) this.#fail(fault);
          },
        });
        while (this.#isReading) await this.#changes.next();
        await reader.close();
        this.#next = this.#rewindTo ?? this.#next;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  get #isReading(): boolean {
    return !this.#hasEnded && this.#rewindTo === null;
  }

  async #take(records: readonly StoredRecord[]): Promise<void> {
    try {
      for (const record of records) {
        if (!this.#isReading) return;
        await this.#compare(record);
      }
    } finally {
      if (this.#copies > 0) this.#parts.onCopies(this.#copies);
      this.#copies = 0;
    }
  }

  /** An owner may be ahead: then its output waits for the own one. */
  async #compare({ offset, value }: StoredRecord): Promise<void> {
    const { unseen, executions, nextInput, onSeen } = this.#parts;
    let stored: StoredOutput | null = null;
    while (this.#isReading) {
      const { first } = unseen;
      if (first !== null && value !== null && isCopy(first.value, value)) {
        this.#next = offset + 1;
        onSeen(unseen.see(), offset);
        return;
      }
      stored ??= await executions.identify(offset, value);
      // The first output may have come, or another one, while the record was read.
      if (unseen.first !== first) continue;
      if (stored.inOffset < (first?.inOffset ?? nextInput())) {
        this.#next = offset + 1;
        this.#copies += 1;
        return;
      }
      if (first === null) await this.#changes.next();
      else await this.#rewind(stored, first.inOffset);
    }
  }

  /**
   * Outputs are missing in between, or were passed over: reading began after late copies of a former owner. Those are
   * stored before, and read again. Throws `outputs_differ` and `execution_gap` (release).
   */
  async #rewind({ inOffset }: StoredOutput, expected: number): Promise<void> {
    const { executions } = this.#parts;
    const facts = { inOffset, expected };
    if (inOffset === expected) throw new Fault('outputs_differ', 'release', { facts });
    const found = await executions.find(expected, await executions.bounds());
    if (found === null) throw new Fault('execution_gap', 'release', { facts });
    this.#rewindTo = found.offset;
    this.#changes.give();
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.end();
    this.#parts.onFault(error);
  }
}
