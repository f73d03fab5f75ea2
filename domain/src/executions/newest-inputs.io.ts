import { type ExecutionLog, ExecutionReader } from './execution-reader.io.ts';
import type { NewestInput } from './input-sequence.ts';

/**
 * By partition the newest input in front of the offset that a reader begins at: the first records it meets may be late
 * copies of a former owner. Partitions with nothing in front of theirs are absent. Rejects with the faults of
 * `ExecutionReader.open`.
 */
export async function newestInputs(
  log: Omit<ExecutionLog, 'checksChain'>,
  positions: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, NewestInput>> {
  const looked = [...positions].map(async ([partition, offset]) => {
    const reader = await ExecutionReader.open({ ...log, checksChain: false }, partition, offset);
    return [partition, reader] as const;
  });
  const found = new Map<number, NewestInput>();
  for (const [partition, { nextInOffset, lastTimeMs: clockMs }] of await Promise.all(looked))
    if (nextInOffset > 0) found.set(partition, { inOffset: nextInOffset - 1, clockMs });
  return found;
}
