import { Fault } from '@pm/kit/fault';
import type { OutgoingRecord, RecordPlace } from '@pm/kit/kafka';
import type { RecordReader } from '@pm/kit/registry';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { Execution } from '@pm/schemas/log/executions';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import { Engine } from '../../../matcher/src/core/index.ts';
import type { Fate, ParkedCalls } from './parked-calls.ts';
import type { PlainLedger } from './plain-ledger.ts';

/** Changes what the core is given, as a core with a defect would behave. */
export type SpoiledCommand = (command: Command, timeMs: number) => Command;

interface Partition {
  engine: Engine;
  readonly input: Envelope[];
  readonly output: Execution[];
}

/** Names of the topics; values are places in memory instead of bytes. */
export const topicNames = { orders: 'orders', executions: 'executions', transfers: 'transfers' };

const operatorKey = Buffer.alloc(32, 7);
const noChain = Buffer.alloc(32);

/** The topics `orders`, `executions` and `transfers` in memory, and a matcher per partition: the real core. */
export class SimulatedLog {
  readonly partitions: readonly Partition[];
  readonly transfers: Transfer[] = [];
  /** Records, and calls of Redis, that arrive late; a history may let them come at any time, or never. */
  readonly late: (() => unknown)[] = [];
  readonly #judge: PlainLedger;
  readonly #spoiled: SpoiledCommand;
  readonly #values: (Envelope | Transfer | Execution)[] = [];

  constructor(
    { partitions, judge }: { readonly partitions: number; readonly judge: PlainLedger },
    spoiled: SpoiledCommand = (command) => command,
  ) {
    this.#judge = judge;
    this.#spoiled = spoiled;
    this.partitions = Array.from({ length: partitions }, (_, partition) => ({
      engine: new Engine(partition),
      input: [],
      output: [],
    }));
  }

  /** A value as a record carries it: its place in memory. */
  encode(value: Envelope | Transfer | Execution): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(this.#values.push(value) - 1);
    return bytes;
  }

  /** Reads such records. */
  reader<T extends Envelope | Transfer | Execution>(): RecordReader<T> {
    return {
      knows: () => true,
      prepare: async () => {},
      decode: (bytes: Buffer) => this.#values[bytes.readDoubleBE()] as T,
    };
  }

  /** Appends commands of an operator or of an owner at once. */
  command(partition: number, ...commands: readonly Command[]): void {
    this.#append(partition, { ...unsigned, partition, keyId: noKey, sequence: -1, commands });
  }

  append({ topic, partition, value }: OutgoingRecord): RecordPlace {
    const content = this.#values[value?.readDoubleBE() ?? -1];
    if (topic === topicNames.orders) return this.#append(partition, content as Envelope);
    this.transfers.push(content as Transfer);
    this.#judge.transfer(content as Transfer);
    return { partition, offset: this.transfers.length - 1 };
  }

  #append(partition: number, envelope: Envelope): RecordPlace {
    const { input } = this.at(partition);
    return { partition, offset: input.push(envelope) - 1 };
  }

  at(partition: number): Partition {
    const found = this.partitions[partition];
    if (found === undefined) throw new Error(`there is no partition ${partition}`);
    return found;
  }

  /** Sends of a process: each waits until the history lets it happen. */
  producer(process: object, label: string, calls: ParkedCalls) {
    return {
      send: (records: readonly OutgoingRecord[]): Promise<readonly RecordPlace[]> => {
        const append = () => records.map((record) => this.append(record));
        const later = () => void this.late.push(append);
        const call = { label, process, afterDeath: later };
        return calls.park(call, async () => append(), sendFault);
      },
    };
  }

  /** The matcher of a partition takes the next records, at most so many. */
  match(partition: number, count: number): void {
    const { engine, input, output } = this.at(partition);
    for (let left = count; left > 0 && output.length < input.length; left -= 1) {
      const inOffset = output.length;
      const envelope = input[inOffset] as Envelope;
      const commands = envelope.commands.map((one) => this.#spoiled(one, engine.timeMs));
      const { events, timeMs } = engine.apply({ ...envelope, commands }, inOffset);
      const { keyId, sequence } = envelope;
      const execution = { chain: noChain, inOffset, timeMs, keyId, sequence, events };
      output.push(execution);
      this.#judge.execution(execution, partition);
    }
  }

  /** The owner of a partition dies; the next one begins with its state. */
  takeOver(partition: number): void {
    const at = this.at(partition);
    at.engine = Engine.restore(at.engine.encodeState());
  }

  open(partition: number, feeWallet: Buffer, timeMs: number): void {
    const limits = { bookAgeLimitMs: 2_000, orderAgeLimitMs: 3_600_000 };
    this.command(partition, {
      kind: 'OpenPartition',
      partition,
      operatorKey,
      feeWallet,
      timeMs,
      ...limits,
    });
  }
}

const unsigned = { signature: Buffer.alloc(64) };
const noKey = Buffer.alloc(8, 9);

function sendFault(fate: Exclude<Fate, 'done'>): Fault {
  if (fate === 'lost') return new Fault('not_sent', 'retry');
  return new Fault('send_outcome_unknown', 'release');
}
