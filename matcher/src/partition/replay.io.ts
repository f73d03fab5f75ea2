import type { RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import type { Envelope } from '@pm/schemas/log/orders';
import { Engine } from '../core/index.ts';
import { EnvelopeReader } from './envelope-reader.ts';
import {
  firstPosition,
  type InputRecord,
  type OutputRecord,
  RecordProcessor,
} from './record-processor.ts';
import { processPrepared } from './slices.io.ts';

interface ReplayParts {
  readonly partition: number;
  /** Raw public key that alone may open the partition. */
  readonly operatorKey: Buffer;
  readonly orders: RecordCodec<Envelope>;
  readonly executions: RecordCodec<Execution>;
}

/** The outputs of a partition from its first record on, as its owner computes them; nothing is written. */
export class PartitionReplay {
  readonly #orders: RecordCodec<Envelope>;
  readonly #processor: RecordProcessor;

  constructor({ partition, operatorKey, orders, executions }: ReplayParts) {
    const reader = new EnvelopeReader({ partition, operatorKey, codec: orders });
    this.#orders = orders;
    this.#processor = new RecordProcessor(
      { partition, reader, executions },
      firstPosition(new Engine(partition)),
    );
  }

  /** The output of the next record. Throws the faults of `RecordProcessor.process` and of a look for a schema. */
  next(record: InputRecord): Promise<OutputRecord> {
    return processPrepared(this.#processor, record, this.#orders);
  }
}
