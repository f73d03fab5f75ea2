import { isDeepStrictEqual } from 'node:util';
import { type FollowOptions, follow } from '@pm/domain/reading/followed-topics.io';
import { Fault } from '@pm/kit/fault';
import { readRange } from '@pm/kit/kafka';
import { readValue, topicName } from '@pm/kit/registry';
import type { Transfer } from '@pm/schemas/log/accounts';
import { topics } from '@pm/schemas/log/topics';
import type { OwnStates } from './own-states.ts';
import { type LastTransfer, lastOf, StoredTransfers } from './stored-transfers.io.ts';

type TransferLog = Pick<FollowOptions, 'client' | 'schemas' | 'topicPrefix' | 'log'>;

/**
 * The stored transfers of the folder of states; none where the log does not have the newest of them. Rejects when the
 * log is away, or with what `node:fs` throws.
 */
export async function openStoredTransfers(
  directory: string,
  options: TransferLog,
): Promise<StoredTransfers> {
  const stored = new StoredTransfers(directory, options.log);
  if (stored.last === null || (await hasRecord(stored.last, options))) return stored;
  const { offset } = stored.last;
  options.log.error({ offset }, 'the log does not continue the stored transfers: it is read again');
  stored.drop();
  return new StoredTransfers(directory, options.log);
}

/** Resolves when all transfers that were there at the call are taken. */
export async function followTransfers(
  ownStates: Pick<OwnStates, 'takeTransfer'>,
  stored: StoredTransfers,
  options: FollowOptions,
): Promise<void> {
  await follow(options, topics.transfers, {
    from: (stored.last?.offset ?? -1) + 1,
    unreadable: 'stop',
    take: (transfer, { offset }) => {
      ownStates.takeTransfer(offset, transfer);
      stored.taken(offset, transfer);
    },
  });
}

async function hasRecord(
  last: LastTransfer,
  { client, schemas, topicPrefix }: TransferLog,
): Promise<boolean> {
  const { offset } = last;
  const codec = schemas.readerFor(topics.transfers);
  const found: Transfer[] = [];
  const range = { partition: 0, from: offset, to: offset + 1 };
  try {
    await readRange(client, {
      ...range,
      topic: topicName(topics.transfers, topicPrefix),
      onBatch: async ({ records }) => {
        for (const { value } of records) {
          const read = readValue(codec, value, () => null);
          const transfer = read instanceof Promise ? await read : read;
          if (transfer !== null) found.push(transfer);
        }
      },
    });
  } catch (error) {
    if (error instanceof Fault && error.code === 'offset_out_of_range') return false;
    throw error;
  }
  return found.some((transfer) => isDeepStrictEqual(lastOf(offset, transfer), last));
}
