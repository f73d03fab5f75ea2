import { randomBytes } from 'node:crypto';
import type { TopicsOf } from '@pm/domain/commands/topics.io';
import { SessionTable } from '@pm/domain/sessions/session-table';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import { followCompacted, type IncomingRecord, isStall, type OutgoingRecord } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type RecordReader, readValue } from '@pm/kit/registry';
import type { SessionRecord } from '@pm/schemas/log/sessions';
import { Heartbeats, type HeartbeatsOptions } from './heartbeats.io.ts';
import {
  type MissedHeartbeatLimits,
  type MissedHeartbeatOptions,
  MissedHeartbeats,
} from './missed-heartbeats.io.ts';
import { type SessionCancelOptions, SessionCancels } from './session-cancels.io.ts';
import { SessionLog } from './session-log.io.ts';
import { SessionSilence, type SilenceLimits } from './session-silence.ts';

export interface SessionLimits extends SilenceLimits, MissedHeartbeatLimits {
  /** How often silence is looked for, milliseconds. */
  readonly checkEveryMs: number;
}

/**
 * A session is promised 10 seconds. In the worst case no heartbeat could come during the last `outageMs` of them and
 * that has not been noticed yet, so they are added: orders go 13 to 13.5 seconds after the last heartbeat, and 15 are
 * promised (conventions.md 3.16). `claimAfterMs` is longer than a cancel of the process that died can still reach a
 * book: the age limit of the book on both sides, the fence, and a pulse.
 */
export const sessionLimits: SessionLimits = {
  outageMs: 3_000,
  silenceMs: 13_000,
  checkEveryMs: 500,
  pulseEveryMs: 1_000,
  claimAfterMs: 6_000,
};

export interface SessionsOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly entryQuota: HeartbeatsOptions['entryQuota'];
  readonly run: SessionCancelOptions['run'];
  readonly partitions: SessionCancelOptions['partitions'];
  readonly counts: Pick<HeartbeatsOptions, 'onBeat'> &
    Pick<MissedHeartbeatOptions, 'onMissed' | 'onRevived' | 'onEnded'>;
  /** Tests wait less. */
  readonly limits?: SessionLimits;
  /** The topic cannot be followed any further. */
  onFault(fault: Fault): void;
}

export interface Sessions {
  readonly heartbeats: Heartbeats;
  readonly table: SessionTable;
  /** Sends nothing more. */
  close(): Promise<void>;
}

/** Opens the sessions on the log; resolves when all that were there are known and the watch has begun. */
export async function openSessions(
  topicLog: Omit<TopicsOf<'sessions'>, 'records'>,
  options: SessionsOptions,
): Promise<Sessions> {
  const { log: logger, clock, counts, entryQuota, limits = sessionLimits } = options;
  const { client, names, codecs } = topicLog;
  const admin = await client.admin();
  const partitions = (await admin.bounds(names.sessions).finally(() => admin.close())).size;
  // A producer of their own: nothing slow is ever in front of heartbeats.
  const producer = await client.producer();
  const self = randomBytes(16);
  const topic = names.sessions;
  const pulse = (partition: number): OutgoingRecord => ({
    topic,
    partition,
    value: null,
    key: Buffer.from(self.toString('hex'), 'utf8'),
  });
  const log = new SessionLog({
    table: new SessionTable(),
    silence: new SessionSilence(partitions, limits),
    partitions,
    self,
    monotonicMs: clock.monotonicMs,
    randomId: () => randomBytes(16),
    async append(partition, name, record) {
      const key = Buffer.from(name, 'utf8');
      await producer.send([{ topic, partition, key, value: codecs.sessions.encode(record) }]);
    },
    async pulse() {
      await producer.send(Array.from({ length: partitions }, (_one, index) => pulse(index)));
    },
  });
  const { run, partitions: executions, onFault } = options;
  const watch = new MissedHeartbeats({
    log,
    limits,
    logger,
    monotonicMs: clock.monotonicMs,
    ...counts,
    cancels: new SessionCancels({ run, partitions: executions, nowMs: clock.nowMs }),
  });
  const read = readerOf(codecs.sessions, topic);
  const reader = await followCompacted(client, {
    topic,
    onRecord: async (record, partition) => {
      log.take({ partition, key: record.key?.toString('utf8') ?? '', value: await read(record) });
    },
    onFault(fault) {
      if (isStall(fault)) logger.warn({ code: fault.code }, 'sessions are held up');
      else onFault(fault);
    },
  });
  log.start();
  const timer = setInterval(() => watch.check(), limits.checkEveryMs);
  return {
    heartbeats: new Heartbeats({ log, clock, entryQuota, onBeat: counts.onBeat }),
    table: log.table,
    async close() {
      clearInterval(timer);
      await reader.close();
      await producer.close();
    },
  };
}

/** A record that cannot be read may be a heartbeat, so it stops the process. */
function readerOf(codec: RecordReader<SessionRecord>, topic: string) {
  return async ({ value, offset }: IncomingRecord): Promise<SessionRecord | null> => {
    if (value === null) return null;
    return readValue(codec, value, (cause) => {
      throw new Fault('record_unreadable', 'stop', { facts: { topic, offset }, cause });
    });
  };
}
