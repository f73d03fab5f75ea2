import { createHash } from 'node:crypto';
import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { type Codec, compileCodec } from '@pm/schemas/avro/codec';
import { type Execution, execution as executionSchema } from '@pm/schemas/log/executions';
import { type Envelope, envelope as envelopeSchema } from '@pm/schemas/log/orders';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import { makeTrading, type Trading } from '../projectors/trading.ts';

/** A codec as the registry gives it: with a header before the value, and the fingerprint of its schema. */
export interface SealingCodec<T> {
  readonly fingerprint: Buffer;
  encode(value: T): Buffer;
}

const header = Buffer.alloc(registryHeaderBytes);

function withHeader<T>(codec: Codec<T>, name: string): SealingCodec<T> {
  return {
    fingerprint: createHash('sha256').update(name).digest(),
    encode: (value) => Buffer.concat([header, codec.encode(value)]),
  };
}

export const envelopes = withHeader(compileCodec(envelopeSchema) as Codec<Envelope>, 'envelope');
const executionCodec = compileCodec(executionSchema) as Codec<Execution>;
export const executions = withHeader(executionCodec, 'execution');

export function decodeExecution(value: Buffer): Execution {
  return executionCodec.decode(value.subarray(registryHeaderBytes));
}

export function benchKey(): SignOffKey {
  return openSignOffKey(createHash('sha256').update('bench key').digest());
}

/** Records of a busy partition with so many commands each. */
export function tradingOf(perEnvelope: number, records: number): Trading {
  return makeTrading(executions, {
    shape: {
      name: 'protection',
      seed: 14,
      commands: perEnvelope * records,
      markets: 16,
      tick: 100,
    },
    perEnvelope,
    perSecond: 1_000,
    startMs: 1_790_000_000_000,
  });
}
