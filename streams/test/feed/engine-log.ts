import { createHash } from 'node:crypto';
import type { Execution } from '@pm/schemas/log/executions';
import { defaultLimits, Engine, type Limits } from '../../../matcher/src/core/index.ts';
import { envelopeOf, opening, partition } from '../../../matcher/test/core/commands.ts';
import { RandomLog } from '../../../matcher/test/core/random-log.ts';

/** The partition of the logs below. */
export const logPartition = partition;

/** The executions of a random log by the engine itself; the chain is that of other bytes, but differs per record. */
export function* engineLog(
  seed: number,
  count: number,
  limits: Limits = defaultLimits,
): Generator<Execution> {
  const engine = new Engine(partition, limits);
  const log = new RandomLog(seed);
  let chain = Buffer.alloc(32, seed);
  for (let inOffset = 0; inOffset < count; inOffset += 1) {
    const envelope = inOffset === 0 ? envelopeOf([opening], 'OPERATOR') : log.next().envelope;
    const { events, timeMs } = engine.apply(envelope, inOffset);
    chain = createHash('sha256').update(chain).update(String(inOffset)).digest();
    // The seed as the number of the sender: logs of two seeds differ from their first record on.
    yield { chain, inOffset, timeMs, keyId: envelope.keyId, sequence: seed, events };
  }
}

/** Offset in `executions` of an input: every seventh record is followed by a copy. */
export function storedOffset(inOffset: number): number {
  return inOffset + Math.floor(inOffset / 7);
}
