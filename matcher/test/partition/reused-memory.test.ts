import { openRecordCodec } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import { runLength } from '../../../kit/test/long-runs.ts';
import { Engine } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { firstPosition, RecordProcessor } from '../../src/partition/record-processor.ts';
import { codecs, keys, openingRecords, partition, randomRecords } from './sealed-records.ts';

const count = runLength({ test: 750, deep: 1_500 });

/** The outputs of a log, read with a codec. */
function outputsOf(records: readonly Buffer[], codec: typeof codecs.orders): Buffer[] {
  const reader = new EnvelopeReader({
    partition,
    operatorKey: keys.operator.publicKey,
    codec,
  });
  const parts = { partition, reader, executions: codecs.executions };
  const processor = new RecordProcessor(parts, firstPosition(new Engine(partition)));
  return records.map((value, offset) => {
    const output = processor.process({ offset, value });
    if (output === null) throw new Error('a record of our own schema is known');
    return output.value;
  });
}

it('the engine keeps no reference to a record whose memory is used for the next one', () => {
  const records = [...openingRecords(), ...randomRecords(77, count)];
  const plain = openRecordCodec(topics.orders.value, 1, async () => null);
  const expected = outputsOf(records, plain);
  const outputs = outputsOf(records, codecs.orders);
  const different = outputs.findIndex((output, at) => !output.equals(expected[at] as Buffer));
  expect(different).toBe(-1);
});
