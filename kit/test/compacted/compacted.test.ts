import { type CatalogEntry, catalogEntry, catalogKey } from '@pm/schemas/log/catalog';
import { followTable } from '../../src/compacted/index.ts';
import { Fault } from '../../src/fault/index.ts';
import type { LogClient } from '../../src/kafka/log-client.io.ts';
import type { ReaderOptions } from '../../src/kafka/reader.io.ts';
import type { IncomingRecord } from '../../src/kafka/records.ts';
import { silentLog } from '../../src/log/index.ts';
import { openRecordCodec } from '../../src/registry/record-codec.io.ts';
import { loneReader } from '../kafka/lone-reader.ts';

const codec = openRecordCodec(catalogEntry, 7, async () => null);

/** A log with one partition of one topic, as far as followers of compacted topics see it. */
class OnePartition {
  readonly records: IncomingRecord[] = [];
  topic = '';
  #options: ReaderOptions | null = null;

  append(key: string, value: Buffer | null): void {
    const offset = this.records.length;
    this.records.push({ offset, key: Buffer.from(key), value, timestampMs: 0 });
  }

  put(entry: CatalogEntry): void {
    this.append(catalogKey(entry), codec.encode(entry));
  }

  async deliver(from: number): Promise<void> {
    const { length } = this.records;
    const batch = {
      topic: this.topic,
      partition: 0,
      records: this.records.slice(from),
      highWatermark: length,
    };
    await this.#options?.onBatch(batch);
  }

  fail(fault: Fault): void {
    this.#options?.onFault(fault);
  }

  client(): LogClient {
    const client = {
      admin: async () => ({
        bounds: async () => new Map([[0, { low: 0, high: this.records.length }]]),
        close: async () => {},
      }),
      reader: async (options: ReaderOptions) => {
        this.#options = options;
        this.topic = options.topic;
        if (this.records.length > 0) setImmediate(() => void this.deliver(0));
        return { ...loneReader, close: async () => {} };
      },
    };
    return client as unknown as LogClient;
  }
}

function follow(log: OnePartition) {
  const labels = new Map<string, string>();
  let skipped = 0;
  const stopped: string[] = [];
  const done = followTable(log.client(), {
    topic: 'test-catalog',
    codec,
    log: silentLog,
    take: (entry) => labels.set(catalogKey(entry), entry.kind === 'CatalogTag' ? entry.label : ''),
    forget: (key) => labels.delete(key),
    onSkip: () => {
      skipped += 1;
    },
    onFault: (fault) => stopped.push(fault.code),
  });
  return { labels, skipped: () => skipped, stopped, done };
}

function tag(id: string, label: string): CatalogEntry {
  const times = { createdAtMs: 0, updatedAtMs: 0 };
  return { kind: 'CatalogTag', id, label, slug: label, requiresTranslation: false, ...times };
}

describe('a compacted topic', () => {
  it('is followed from its start, deletions and live records included', async () => {
    const log = new OnePartition();
    for (const [id, label] of [
      ['1', 'a'],
      ['2', 'b'],
      ['1', 'c'],
    ] as const)
      log.put(tag(id, label));
    log.append('CatalogTag:2', null);
    const { labels, done } = follow(log);
    await done;
    expect(log.topic).toBe('test-catalog');
    expect([...labels]).toEqual([['CatalogTag:1', 'c']]);
    log.put(tag('3', 'd'));
    await log.deliver(4);
    expect(labels.get('CatalogTag:3')).toBe('d');
  });

  it('skips and counts what cannot be read, and keeps what it would replace', async () => {
    const log = new OnePartition();
    log.put(tag('7', 'crypto'));
    log.append('CatalogTag:7', Buffer.from([9, 9, 9]));
    log.append('CatalogTag:7', Buffer.concat([codec.encode(tag('7', 'x')), Buffer.from([1])]));
    const { labels, skipped, done } = follow(log);
    await done;
    expect(labels.get('CatalogTag:7')).toBe('crypto');
    expect(skipped()).toBe(2);
  });

  it('is not followed, and not waited for, when a registry that is away ends its reader', async () => {
    const log = new OnePartition();
    log.put(tag('1', 'a'));
    const away = new Fault('registry_unavailable', 'retry');
    const { stopped, done } = follow(log);
    const failed = expect(done).rejects.toBe(away);
    await new Promise((resolve) => setImmediate(resolve));
    log.fail(away);
    await failed;
    expect(stopped).toEqual(['registry_unavailable']);
  });

  it('is told about only when it cannot be followed any further', async () => {
    const log = new OnePartition();
    const { stopped, done } = follow(log);
    await done;
    log.fail(new Fault('reader_stalled', 'retry'));
    log.fail(new Fault('offset_out_of_range', 'stop'));
    expect(stopped).toEqual(['offset_out_of_range']);
  });
});
