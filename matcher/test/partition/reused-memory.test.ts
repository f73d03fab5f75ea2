import { openRecordCodec } from '@pm/kit/registry';
import { topics } from '@pm/schemas';
import { Engine, roleAllows } from '../../src/core/index.ts';
import { EnvelopeSource } from '../../src/partition/envelope-reader.ts';
import { firstPosition, RecordRunner } from '../../src/partition/record-processor.ts';
import { codecs, keys, openingRecords, partition, randomRecords } from './sealed-records.ts';

/** The outputs of a log, read with a codec. */
function outputsOf(records: readonly Buffer[], codec: typeof codecs.orders): Buffer[] {
  const source = new EnvelopeSource({
    partition,
    operatorKey: keys.operator.publicKey,
    codec,
    roleAllows,
  });
  const parts = { partition, source, executions: codecs.executions };
  const runner = new RecordRunner(parts, firstPosition(new Engine(partition)));
  return records.map((value, offset) => {
    const output = runner.run({ offset, value });
    if (output === null) throw new Error('a record of our own schema is known');
    return output.value;
  });
}

it('nothing of a record is left in the engine when its memory is filled with the next one', () => {
  const records = [...openingRecords(), ...randomRecords(77, 1_500)];
  const plain = openRecordCodec(topics.orders.value, 1, async () => null);
  const expected = outputsOf(records, plain);
  const outputs = outputsOf(records, codecs.orders);
  const different = outputs.findIndex((output, at) => !output.equals(expected[at] as Buffer));
  expect(different).toBe(-1);
});
