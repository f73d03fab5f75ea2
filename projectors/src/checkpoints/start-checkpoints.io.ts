import { getHeapStatistics } from 'node:v8';
import type { SealedLog } from '@pm/domain/authority/sealed-log.io';
import { SealedObjects } from '@pm/domain/objects/sealed-objects.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { storeConnection } from '@pm/kit/config';
import { openObjectStore } from '@pm/kit/objects';
import { topics } from '@pm/schemas/log/topics';
import { executionLog, type Room, type StoredCheckpoints, topicNameOf } from '../room.io.ts';
import { CheckpointObjects } from './checkpoint-objects.io.ts';
import { Checkpoints } from './read-checkpoints.io.ts';
import { Checkpointer } from './take-checkpoints.io.ts';

/** Memory of one wallet or transfer in a checkpoint that is made, and the part of the heap for all of them. */
const entryBytes = 400;
const heapPart = 0.35;

/**
 * The checkpoints in the store of the configuration; null without a store. Those of a LEDGER key that was in use before
 * count until it is retired: on a log whose first records are gone nothing else says what they came to.
 */
export async function openStored(
  room: Omit<Room, 'stored'>,
  keys: Pick<SealedLog, 'verifierOf'>,
): Promise<StoredCheckpoints | null> {
  const { config, life, log, metrics } = room;
  const place = storeConnection(config);
  if (place === null) return null;
  const store = await openObjectStore(place);
  life.onStop('store', () => store.close());
  const objects = new CheckpointObjects(
    new SealedObjects(store, openSignOffKey(config.ledgerSeed), (keyId) =>
      keys.verifierOf('LEDGER', keyId),
    ),
    { log, onNotUsed: () => metrics.checkpoints.add(1, { outcome: 'not_used' }) },
  );
  const checkpoints = new Checkpoints({
    objects,
    executions: await executionLog(room, { checksChain: true }),
    transfersTopic: topicNameOf(room, topics.transfers),
  });
  return { objects, checkpoints };
}

/** Takes checkpoints from now on; without a store nothing happens. */
export async function startCheckpoints(room: Room): Promise<void> {
  const { stored, config, client, schemas, life, log, metrics } = room;
  if (stored === null) return;
  const checkpointer = new Checkpointer({
    ...stored,
    executions: await executionLog(room, { checksChain: true }),
    transfers: {
      client,
      codec: await schemas.codecFor(topics.transfers),
      topic: topicNameOf(room, topics.transfers),
    },
    everyMs: config.checkpointEveryMs,
    entriesMax: Math.floor((getHeapStatistics().heap_size_limit * heapPart) / entryBytes),
    log,
    onTaken: () => metrics.checkpoints.add(1, { outcome: 'taken' }),
    onFailed: () => metrics.checkpoints.add(1, { outcome: 'failed' }),
  });
  const rounds = checkpointer.start();
  life.onStop('checkpoints', () => rounds.close());
}
