import type { LogPlace } from '@pm/deploy/installation/fee-wallet';
import { StackError } from '@pm/deploy/local/stack-error';
import { noKeptOpenings, readFirstEnvelope } from '@pm/domain/signoff/first-envelope.io';
import { type LogAdmin, type PartitionBounds, readRange } from '@pm/kit/kafka';
import { type RecordCodec, readValue, topicName } from '@pm/kit/registry';
import { PartitionReplay } from '@pm/matcher/replay';
import { AvroError } from '@pm/schemas/avro/bytes';
import { type Execution, executionChainBytes } from '@pm/schemas/log/executions';
import type { Envelope } from '@pm/schemas/log/orders';
import { registryHeaderBytes, topics } from '@pm/schemas/log/topics';
import {
  type ComputedOutput,
  type OutputGap,
  OutputLayout,
  type OutputSink,
} from './stored-outputs.ts';

/** Orders read ahead of their outputs. */
const ordersPerRead = 10_000;

interface Codecs {
  readonly orders: RecordCodec<Envelope>;
  readonly executions: RecordCodec<Execution>;
}

/** `orders` and `executions` of an installation, as a repair reads them. */
export class OutputLog {
  readonly names: { readonly orders: string; readonly executions: string };
  readonly #place: LogPlace;
  readonly #admin: Pick<LogAdmin, 'bounds'>;
  readonly #codecs: Codecs;

  private constructor(place: LogPlace, admin: Pick<LogAdmin, 'bounds'>, codecs: Codecs) {
    const { topicPrefix } = place;
    this.#place = place;
    this.#admin = admin;
    this.#codecs = codecs;
    this.names = {
      orders: topicName(topics.orders, topicPrefix),
      executions: topicName(topics.executions, topicPrefix),
    };
  }

  static async open(place: LogPlace, admin: Pick<LogAdmin, 'bounds'>): Promise<OutputLog> {
    const { schemas } = place;
    return new OutputLog(place, admin, {
      orders: await schemas.codecFor(topics.orders),
      executions: await schemas.codecFor(topics.executions),
    });
  }

  /** Passes the records of a partition on in their right order; returns the gaps that were filled. */
  async layOut(partition: number, sink: OutputSink): Promise<readonly OutputGap[]> {
    const { orders, executions } = this.names;
    const { high } = await this.#wholeBounds(executions, partition);
    if (high === 0) return [];
    const { high: inputs } = await this.#wholeBounds(orders, partition);
    const outputs = this.#computed(partition, inputs);
    const compute = async () => {
      const { value, done } = await outputs.next();
      if (done === true) throw missingOrders(partition, inputs);
      return value;
    };
    const layout = new OutputLayout(partition, compute, sink);
    await readRange(this.#place.client, {
      topic: executions,
      partition,
      from: 0,
      to: high,
      onBatch: async ({ records }) => {
        for (const { offset, value, timestampMs } of records) {
          const stored = value ?? Buffer.alloc(0);
          const { inOffset, chain } = await this.#headOf(stored, offset);
          const output = { offset, value: stored, timestampMs, inOffset };
          await layout.take({ ...output, chain: Buffer.from(chain) });
        }
      },
    });
    return layout.gaps;
  }

  async *#computed(partition: number, inputs: number): AsyncGenerator<ComputedOutput, void> {
    const replay = new PartitionReplay({
      partition,
      operatorKey: await this.#operatorKeyOf(partition),
      ...this.#codecs,
    });
    for (let from = 0; from < inputs; from += ordersPerRead) {
      const to = Math.min(from + ordersPerRead, inputs);
      for (const record of await this.#ordersOf(partition, from, to)) {
        const { inOffset, value } = await replay.next(record);
        const chain = value.subarray(
          registryHeaderBytes,
          registryHeaderBytes + executionChainBytes,
        );
        yield { inOffset, value, chain };
      }
    }
  }

  async #ordersOf(partition: number, from: number, to: number) {
    const orders: { offset: number; value: Buffer | null }[] = [];
    await readRange(this.#place.client, {
      topic: this.names.orders,
      partition,
      from,
      to,
      onBatch: async ({ records }) => {
        orders.push(...records);
      },
    });
    return orders;
  }

  /** The operator that opened the partition; outputs that agree prove that the matchers trusted the same one. */
  async #operatorKeyOf(partition: number): Promise<Buffer> {
    const { client } = this.#place;
    const from = { topic: this.names.orders, partition, reader: this.#codecs.orders };
    const reading = readFirstEnvelope(client, { ...from, kept: noKeptOpenings });
    const first = await reading.catch((error: unknown) => {
      if (error instanceof AvroError) return null;
      throw error;
    });
    const opening = first?.commands.find((one) => one.kind === 'OpenPartition');
    if (opening !== undefined) return Buffer.from(opening.operatorKey);
    // One key opens all partitions, and one of them behind records of others.
    if (partition !== 0) return await this.#operatorKeyOf(0);
    throw new StackError('BAD_DESCRIPTION', `partition ${partition} was never opened`);
  }

  async #headOf(value: Buffer, offset: number): Promise<Pick<Execution, 'inOffset' | 'chain'>> {
    return readValue(this.#codecs.executions, value, () => {
      throw new StackError('BAD_DESCRIPTION', `the record at offset ${offset} cannot be read`);
    });
  }

  /** Outputs are computed from the first order on, so nothing may be missing at the beginning. */
  async #wholeBounds(topic: string, partition: number): Promise<PartitionBounds> {
    const bounds = (await this.#admin.bounds(topic)).get(partition);
    if (bounds?.low === 0) return bounds;
    throw new StackError(
      'BAD_DESCRIPTION',
      `${topic}/${partition} does not begin with its first record: outputs cannot be computed`,
    );
  }
}

function missingOrders(partition: number, inputs: number): StackError {
  return new StackError(
    'BAD_DESCRIPTION',
    `partition ${partition}: executions name inputs beyond the ${inputs} orders that are there`,
  );
}
