import { firstChain } from '@pm/domain/signoff/records';
import { checkpointEveryRecords } from '@pm/schemas/log/executions';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { Engine } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { type LogPosition, RecordProcessor } from '../../src/partition/record-processor.ts';
import { hashKnown } from '../../src/partition/state-encoder.io.ts';
import { type HashState, hashHere, hashOf } from '../../src/partition/state-hash.ts';
import { codecs, keys, openingCommand, partition, sealed } from './sealed-records.ts';

/** Processes the opening of a partition under these rules as record 0, then a record at each of the given offsets. */
class Log {
  #position: LogPosition = {
    engine: new Engine(partition),
    chain: firstChain,
    nextOffset: 0,
    checkpoint: null,
  };
  readonly #hashState: HashState;

  constructor(hashState: HashState = hashHere) {
    this.#hashState = hashState;
  }

  /** Goes on at an offset, as if all records before it had changed nothing. */
  at(nextOffset: number): RecordProcessor {
    const { engine, chain, checkpoint } = this.#position;
    const reader = new EnvelopeReader({
      partition,
      operatorKey: keys.operator.publicKey,
      codec: codecs.orders,
    });
    const processor = new RecordProcessor(
      { partition, reader, executions: codecs.executions, hashState: this.#hashState },
      { engine, chain, nextOffset, checkpoint },
    );
    this.#position = processor;
    return processor;
  }

  /** The checkpoint in the output of a record at an offset, or nothing. */
  checkpointAt(offset: number, commands: readonly Command[]): Buffer | undefined {
    const output = this.at(offset).process({ offset, value: sealed(keys.operator, commands) });
    const { events } = codecs.executions.decode(output?.value ?? Buffer.alloc(0));
    const last = events.at(-1);
    return last?.kind === 'Checkpoint' ? last.stateHash : undefined;
  }

  stateHash(): Buffer {
    return hashOf(this.#position.engine.encodeState());
  }
}

const every = checkpointEveryRecords;
const mode = (one: 'HALTED' | 'OPEN' | 'CANCEL_ONLY'): Command => ({
  kind: 'SetTradingMode',
  mode: one,
});
const open = (version: number): Command[] =>
  version === 0 ? [openingCommand] : [openingCommand, { kind: 'SetRules', version }];

describe('a checkpoint', () => {
  test('shows the state at the checkpoint before, and the first one shows none', () => {
    const log = new Log();
    expect(log.checkpointAt(0, open(newestRules))).toBeUndefined();
    let before = log.stateHash();
    expect(log.checkpointAt(7, [mode('HALTED')])).toBeUndefined();
    for (const [index, one] of [mode('CANCEL_ONLY'), mode('OPEN'), mode('HALTED')].entries()) {
      expect(log.checkpointAt((index + 1) * every, [one])).toEqual(before);
      before = log.stateHash();
    }
  });

  test('shows its own state under older rules, and goes over without a gap in its states', () => {
    const log = new Log();
    expect(log.checkpointAt(0, open(rules.operatorKeys))).toEqual(log.stateHash());
    expect(log.checkpointAt(every, [mode('HALTED')])).toEqual(log.stateHash());
    // From here on the newer rules: this state was not shown before, so the next checkpoint shows it.
    const newer: Command = { kind: 'SetRules', version: rules.laterCheckpoints };
    expect(log.checkpointAt(2 * every, [newer])).toBeUndefined();
    const before = log.stateHash();
    expect(log.checkpointAt(3 * every, [mode('OPEN')])).toEqual(before);
  });

  test('waits for a hash that is still computed, and nothing has changed meanwhile', async () => {
    let finish: (hash: Buffer) => void = () => {};
    const log = new Log(() => {
      let value: Buffer | null = null;
      const known = new Promise<void>((resolve) => {
        finish = (hash) => {
          value = hash;
          resolve();
        };
      });
      return {
        get value() {
          return value;
        },
        onceKnown: (resolve) => void known.then(resolve),
      };
    });
    log.checkpointAt(0, open(newestRules));
    expect(log.checkpointAt(every - 1, [mode('HALTED')])).toBeUndefined();
    const processor = log.at(every);
    const record = { offset: every, value: sealed(keys.operator, [mode('OPEN')]) };
    const state = log.stateHash();
    expect(processor.process(record)).toBeNull();
    expect(log.stateHash()).toEqual(state);
    const waiting = processor.awaited;
    finish(Buffer.alloc(32, 9));
    await hashKnown(waiting);
    const output = processor.process(record);
    const { events } = codecs.executions.decode(output?.value ?? Buffer.alloc(0));
    expect(events.at(-1)).toEqual({ kind: 'Checkpoint', stateHash: Buffer.alloc(32, 9) });
  });
});
