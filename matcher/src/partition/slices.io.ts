import { setImmediate } from 'node:timers/promises';
import type { Rejected } from './dead-letters.io.ts';
import type { InputRecord, OutputRecord, RecordRunner } from './record-processor.ts';

/** Consecutive records and what they came to. */
export interface RunSlice {
  readonly outputs: readonly OutputRecord[];
  readonly rejected: readonly Rejected[];
  readonly commands: number;
  /** False when the records only moved the clock. */
  readonly changed: boolean;
  /** Milliseconds it took to compute. */
  readonly tookMs: number;
}

/**
 * Bounds of a slice. Records and bytes keep a send below what a broker takes at once and kafkajs handles well; commands
 * keep the other partitions and the heartbeats of this process waiting for some 20 ms at most.
 */
export interface SliceLimits {
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly commandsMax: number;
}

export const defaultSliceLimits: SliceLimits = {
  recordsMax: 500,
  bytesMax: 512 * 1_024,
  commandsMax: 2_048,
};

/** Runs a batch in slices, each handed on before the next is computed. Throws what a record or the receiver throws. */
export async function runInSlices(
  runner: RecordRunner,
  records: readonly InputRecord[],
  rules: { limits: SliceLimits; monotonicMs(): number; onSlice(slice: RunSlice): Promise<void> },
): Promise<void> {
  let done = 0;
  while (done < records.length) {
    const slice = await runSlice(runner, records, { ...rules, from: done });
    done += slice.outputs.length;
    await rules.onSlice(slice);
    if (done < records.length) await setImmediate();
  }
}

async function runSlice(
  runner: RecordRunner,
  records: readonly InputRecord[],
  { limits, monotonicMs, from }: { limits: SliceLimits; monotonicMs(): number; from: number },
): Promise<RunSlice> {
  const startedMs = monotonicMs();
  const outputs: OutputRecord[] = [];
  const rejected: Rejected[] = [];
  let [bytes, commands, changed] = [0, 0, false];
  for (let at = from; at < records.length; at += 1) {
    const record = records[at] as InputRecord;
    const output = runner.run(record) ?? (await runner.runPrepared(record));
    outputs.push(output);
    if (output.rejected !== null) rejected.push({ record, reason: output.rejected });
    bytes += output.value.length;
    commands += output.commands;
    changed ||= !output.ticksOnly;
    const full = outputs.length >= limits.recordsMax || bytes >= limits.bytesMax;
    if (full || commands >= limits.commandsMax) break;
  }
  return { outputs, rejected, commands, changed, tookMs: monotonicMs() - startedMs };
}
