import { Fault } from '@pm/kit/fault';
import type { LogAdmin } from '@pm/kit/kafka';

/** With this many copies in sync a record survives the loss of any broker. */
const minInSyncWanted = 2;

/**
 * Rejects with `replication_low` (stop) when a topic has fewer copies than configured, acknowledges a record before a
 * second copy has it, or may elect a leader that lacks acknowledged records: then a lost broker loses orders that
 * clients know as accepted. `PM_REPLICATION_MIN` says otherwise where there is one broker; settings that brokers may
 * leave out (`PM_KAFKA_HIDDEN_SETTINGS`) and do are not judged.
 */
export async function requireDurable(
  admin: Pick<LogAdmin, 'durability'>,
  topic: string,
  replicationMin: number,
): Promise<void> {
  const { copies, minInSync, electsUnclean } = await admin.durability(topic);
  const minInSyncMin = Math.max(1, Math.min(minInSyncWanted, replicationMin - 1));
  const isInSync = minInSync === null || minInSync >= minInSyncMin;
  if (copies >= replicationMin && isInSync && electsUnclean !== true) return;
  throw new Fault('replication_low', 'stop', {
    facts: {
      topic,
      copies,
      replicationMin,
      minInSync: minInSync ?? 'hidden',
      minInSyncMin,
      electsUnclean: electsUnclean ?? 'hidden',
    },
  });
}
