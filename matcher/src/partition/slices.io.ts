import { setImmediate } from 'node:timers/promises';
import { assert } from '@pm/kit/assert';
import type { RecordCodec } from '@pm/kit/registry';
import type { Envelope } from '@pm/schemas/log/orders';
import type { Rejected } from './dead-letters.io.ts';
import type { InputRecord, OutputRecord, RecordProcessor } from './record-processor.ts';
import { SealsAhead } from './seals-ahead.io.ts';
import type { SignaturePool } from './signature-pool.io.ts';
import { hashKnown } from './state-encoder.io.ts';

/** The codec that looks up the schema of a record. */
export type SchemaFetcher = Pick<RecordCodec<Envelope>, 'prepare'>;

/** Outputs of consecutive records. */
export interface ProcessedSlice {
  readonly outputs: readonly OutputRecord[];
  readonly rejected: readonly Rejected[];
  readonly commands: number;
  /** False when the records only moved the clock. */
  readonly changed: boolean;
  /** Milliseconds it took to compute. */
  readonly tookMs: number;
}

/**
 * Bounds of a slice. Records and bytes keep a send below the limits of the broker and of what kafkajs handles well;
 * commands keep the wait of other partitions and of this process's heartbeats at some 20 ms.
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

interface SliceRules {
  readonly schemas: SchemaFetcher;
  readonly signatures: Pick<SignaturePool, 'check'>;
  readonly limits: SliceLimits;
  monotonicMs(): number;
  onSlice(slice: ProcessedSlice): Promise<void>;
}

/**
 * Processes a batch in slices; each is handed on before the next is computed. Throws the faults of `process` and
 * `onSlice`.
 */
export async function processInSlices(
  processor: RecordProcessor,
  records: readonly InputRecord[],
  rules: SliceRules,
): Promise<void> {
  const seals = new SealsAhead(processor, records, rules.signatures);
  let done = 0;
  while (done < records.length) {
    const slice = await processSlice(processor, records, { ...rules, seals, from: done });
    done += slice.outputs.length;
    await rules.onSlice(slice);
    if (done < records.length) await setImmediate();
  }
}

async function processSlice(
  processor: RecordProcessor,
  records: readonly InputRecord[],
  rules: SliceRules & { readonly seals: SealsAhead; readonly from: number },
): Promise<ProcessedSlice> {
  const { schemas, limits, monotonicMs, seals, from } = rules;
  const startedMs = monotonicMs();
  const outputs: OutputRecord[] = [];
  const rejected: Rejected[] = [];
  let [bytes, commands, changed] = [0, 0, false];
  for (let at = from; at < records.length; at += 1) {
    const record = records[at] as InputRecord;
    const pending = seals.of(at);
    const checked = pending === null ? null : await pending;
    const output =
      processor.process(record, { checked }) ?? (await processPrepared(processor, record, schemas));
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

/**
 * Processes a record after the hash of a checkpoint is known and its schema was fetched, if necessary. Throws also
 * `service_keys_unread` (retry) and `state_encoder_died` (stop).
 */
export async function processPrepared(
  processor: RecordProcessor,
  record: InputRecord,
  schemas: SchemaFetcher,
): Promise<OutputRecord> {
  await hashKnown(processor.awaited);
  const output = processor.process(record);
  if (output !== null) return output;
  assert(record.value !== null, 'a record of an unknown schema has a value');
  await schemas.prepare(record.value);
  const prepared = processor.process(record, { isPrepared: true });
  assert(prepared !== null, 'a prepared schema is known');
  return prepared;
}
