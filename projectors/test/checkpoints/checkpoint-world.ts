import { SealedObjects } from '@pm/domain/objects/sealed-objects.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { silentLog } from '@pm/kit/log';
import { openRecordCodec } from '@pm/kit/registry';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { sealed } from '../../../domain/test/executions/fake-log.ts';
import { MemoryObjects } from '../../../domain/test/objects/memory-objects.ts';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { CheckpointObjects } from '../../src/checkpoints/checkpoint-objects.io.ts';
import { Checkpoints } from '../../src/checkpoints/read-checkpoints.io.ts';
import { Checkpointer } from '../../src/checkpoints/take-checkpoints.io.ts';
import { executionOf, ofPartition, TinyExchange } from '../log.ts';
import { GrowingLog } from './growing-log.ts';

export const partitions = [0, 1];
export const count = 120;

const moneyOf = (inOffset: number): ExecutionEvent => ({
  kind: 'MoneyMoved',
  wallet: bytesOf(20, 1 + (inOffset % 5)),
  freeMicro: -inOffset,
  heldMicro: inOffset,
});

/** All records of a partition of `executions`. */
export const executions = partitions.map((partition) =>
  new TinyExchange(30 + partition)
    .records(count)
    .map(({ inOffset, events, timeMs }) =>
      executionOf(
        inOffset,
        [...events.map((event) => ofPartition(event, partition)), moneyOf(inOffset)],
        timeMs,
      ),
    ),
);
export const records = executions.map(sealed);

export const transferCodec = openRecordCodec(topics.transfers.value, 2, async () => null);
export const transferRecords = Array.from({ length: 40 }, (_, offset) => {
  const transfer: Transfer = {
    transferId: bytesOf(32, offset % 30),
    wallet: bytesOf(20, 1 + (offset % 5)),
    amountMicro: offset % 10 === 9 ? 0 : 1_000 + offset,
    timeMs: offset,
    generation: offset % 20 === 19 ? offset : 0,
  };
  return { offset, key: null, value: transferCodec.encode(transfer), timestampMs: 0 };
});

/** A log that has so much of everything, and the store of its projectors. */
export class World {
  readonly log = new GrowingLog();
  readonly store = new MemoryObjects();
  notUsed = 0;
  #part = 0;

  /** The next part of the log, of four. */
  grow(): void {
    const part = <T>(all: readonly T[]) =>
      all.slice((this.#part * all.length) / 4, ((this.#part + 1) * all.length) / 4);
    for (const partition of partitions)
      this.log.add('executions', partition, part(records[partition] ?? []));
    this.log.add('transfers', 0, part(transferRecords));
    this.#part += 1;
  }

  get parts() {
    const { client } = this.log;
    const codec = openRecordCodec(topics.executions.value, 1, async () => null);
    const log = { client, codec, topic: 'executions', checksChain: true };
    const key = openSignOffKey(Buffer.alloc(32, 3));
    const objects = new CheckpointObjects(new SealedObjects(this.store, key), {
      log: silentLog,
      onNotUsed: () => {
        this.notUsed += 1;
      },
    });
    const checkpoints = new Checkpoints({ objects, executions: log, transfersTopic: 'transfers' });
    return { objects, checkpoints, executions: log };
  }

  checkpointer(entriesMax = 1_000): Checkpointer {
    return new Checkpointer({
      ...this.parts,
      transfers: { client: this.log.client, codec: transferCodec, topic: 'transfers' },
      everyMs: 1_000,
      entriesMax,
      log: silentLog,
      onTaken() {},
      onFailed() {},
    });
  }

  /** Names of the checkpoints in a folder, the oldest first. */
  names(folder: string): readonly string[] {
    const recordsOf = (name: string) => Number.parseInt(name.slice(folder.length), 10);
    return [...this.store.contents.keys()]
      .filter((name) => name.startsWith(folder))
      .sort((a, b) => recordsOf(a) - recordsOf(b));
  }

  /** Changes the stored bytes of a checkpoint. */
  spoil(name: string, change: (bytes: Buffer) => Buffer): void {
    this.store.contents.set(name, change(Buffer.from(this.store.contents.get(name) ?? '')));
  }
}
