import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { openRecordCodec } from '@pm/kit/registry';
import {
  checkpointEveryRecords,
  openOrdersPerWalletMax,
  takerDelayMaxMs,
} from '@pm/schemas/log/executions';
import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import { sequencesPerRun } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { defaultLimits, Engine, type Limits } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import {
  firstPosition,
  type InputRecord,
  RecordProcessor,
} from '../../src/partition/record-processor.ts';
import { hashOf } from '../../src/partition/state-hash.ts';

/** Parameters that a log was written with: the first line of its file. */
export interface GoldenHead {
  readonly partition: number;
  /** Raw public key that opened the partition, hex. */
  readonly openingKey: string;
  /** Limits other than those of the schemas, so that a short log reaches them. */
  readonly limits: Partial<Limits>;
  /** Constants that are part of the rules. */
  readonly constants: Readonly<Record<string, number>>;
  /** The id in each record of `orders`, and the Avro schema that is registered under it. */
  readonly schemaId: number;
  readonly schema: unknown;
}

/** A record of `orders` and its output, hex; a missing value is `null`. Some offsets are left out. */
interface GoldenRecord {
  readonly offset: number;
  readonly in: string | null;
  readonly out: string;
}

/** Final result of all records, hex: the chain of the last output and the SHA-256 of the state. */
interface GoldenEnd {
  readonly chain: string;
  readonly state: string;
}

/** A log with what was said of it once: a file of a head, a line per record and an end. */
export interface GoldenLog {
  readonly head: GoldenHead;
  readonly records: readonly GoldenRecord[];
  readonly end: GoldenEnd;
}

const pathOf = (name: string): string => join(__dirname, 'golden', `${name}.jsonl.gz`);

export function hasGolden(name: string): boolean {
  return existsSync(pathOf(name));
}

export function readGolden(name: string): GoldenLog {
  const text = gunzipSync(readFileSync(pathOf(name))).toString();
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  return {
    head: lines[0] as GoldenHead,
    records: lines.slice(1, -1) as GoldenRecord[],
    end: lines.at(-1) as GoldenEnd,
  };
}

export function writeGolden(name: string, { head, records, end }: GoldenLog): void {
  const text = [head, ...records, end].map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(pathOf(name), gzipSync(text, { level: 9 }));
}

/** Bytes of a record of a golden log. */
export function inputOf({ offset, in: value }: GoldenRecord): InputRecord {
  return { offset, value: value === null ? null : Buffer.from(value, 'hex') };
}

/** Another one gives another history. Those of a log under one version are reached by none of its few records. */
export const constants: Readonly<Record<string, number>> = {
  ...defaultLimits,
  clockLeapMaxMs,
  sequencesPerRun,
  checkpointEveryRecords,
  openOrdersPerWalletMax,
  takerDelayMaxMs,
};

/** Ids of the schemas that this version writes; the records of a golden log name another one. */
const ownSchemaId = 1_001;
const executionsSchemaId = 2;
const noOther = async () => null;

export const executionsCodec = openRecordCodec(
  topics.executions.value,
  executionsSchemaId,
  noOther,
);

/** The codec of `orders` as a matcher of this version has it, beside a registry with the schema of the log. */
export function codecFor({ schema, schemaId }: GoldenHead) {
  const fetch = async (id: number) => (id === schemaId ? schema : null);
  return openRecordCodec(topics.orders.value, ownSchemaId, fetch, ['PlaceOrder', 'CancelOrder']);
}

/**
 * The outputs that this version gives to the records, and what they come to. Where offsets are left out it goes on as
 * if their records had changed nothing, so that checkpoints come.
 */
export async function replayGolden(
  head: GoldenHead,
  inputs: readonly InputRecord[],
): Promise<Omit<GoldenLog, 'head'>> {
  const { partition } = head;
  const codec = codecFor(head);
  const operatorKey = Buffer.from(head.openingKey, 'hex');
  const reader = new EnvelopeReader({ partition, operatorKey, codec });
  const parts = { partition, reader, executions: executionsCodec };
  const engine = new Engine(partition, { ...defaultLimits, ...head.limits });
  let processor = new RecordProcessor(parts, firstPosition(engine));
  const records: GoldenRecord[] = [];
  for (const input of inputs) {
    const { offset, value } = input;
    if (offset !== processor.nextOffset) {
      const { chain, checkpoint } = processor;
      processor = new RecordProcessor(parts, { engine, chain, checkpoint, nextOffset: offset });
    }
    let output = processor.process(input);
    if (output === null) {
      await codec.prepare(value ?? Buffer.alloc(0));
      output = processor.process(input, { isPrepared: true });
    }
    const out = (output?.value ?? Buffer.alloc(0)).toString('hex');
    records.push({ offset, in: value?.toString('hex') ?? null, out });
  }
  const state = hashOf(engine.encodeState()).toString('hex');
  return { records, end: { chain: processor.chain.toString('hex'), state } };
}
