import { checkChain, firstChain } from '@pm/domain/signoff/records';
import type { Execution } from '@pm/schemas/log/executions';
import { Engine } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { firstPosition, RecordProcessor } from '../../src/partition/record-processor.ts';
import { topicNames } from './matcher-process.ts';
import type { MemoryLog } from './memory-log.ts';
import { codecs, executionOf, keys, partition } from './sealed-records.ts';

/** The stored outputs as a reader with the high-water rule sees them. */
export interface Reading {
  readonly executions: readonly Execution[];
  readonly values: readonly Buffer[];
  /** Copies that were dropped; each was byte-identical. */
  readonly copies: number;
}

/** Reads all outputs by the rule of architecture.md: the next is applied, an older one dropped, a gap is an error. */
export function readOutputs(log: MemoryLog): Reading {
  const executions: Execution[] = [];
  const values: Buffer[] = [];
  let chain = firstChain;
  let copies = 0;
  for (const { value } of log.records(topicNames.executions)) {
    const execution = executionOf(value);
    const bytes = value ?? Buffer.alloc(0);
    const known = values[execution.inOffset];
    if (known !== undefined) {
      if (!known.equals(bytes)) throw new Error(`copy of ${execution.inOffset} differs`);
      copies += 1;
      continue;
    }
    if (execution.inOffset !== values.length) throw new Error(`gap before ${execution.inOffset}`);
    if (!checkChain(bytes, chain)) throw new Error(`the chain breaks at ${execution.inOffset}`);
    chain = execution.chain;
    values.push(bytes);
    executions.push(execution);
  }
  return { executions, values, copies };
}

/** The outputs that a single engine gives to the records of the log. */
export function replayOutputs(log: MemoryLog): readonly Buffer[] {
  const operatorKey = keys.operator.publicKey;
  const reader = new EnvelopeReader({ partition, operatorKey, codec: codecs.orders });
  const parts = { partition, reader, executions: codecs.executions };
  const processor = new RecordProcessor(parts, firstPosition(new Engine(partition)));
  return log
    .records(topicNames.orders)
    .map((record) => processor.process(record)?.value ?? Buffer.alloc(0));
}
