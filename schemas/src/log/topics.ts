import type { AvroSchema } from '../avro/schema.ts';
import {
  credential,
  deadLetter,
  readKey,
  route,
  transfer,
  walletOwner,
  walletStatus,
  withdrawalFreeze,
} from './accounts.ts';
import { agentEntry } from './agents.ts';
import { approval } from './approvals.ts';
import { auditRecord } from './audit.ts';
import { catalogEntry } from './catalog.ts';
import { commentEvent } from './comments.ts';
import { execution } from './executions.ts';
import { notificationMark } from './notifications.ts';
import { envelope } from './orders.ts';
import { profile } from './profiles.ts';
import { type SealRole, serviceKeyEntry } from './service-keys.ts';
import { sessionRecord } from './sessions.ts';

/** A topic is a name, the schema of its values, and how it is kept. */
export interface Topic<S extends AvroSchema = AvroSchema> {
  readonly name: string;
  readonly value: S;
  /**
   * `matching`: as many partitions as the exchange has; `first`: as many as it had at first, since keys keep their
   * partitions; `single`: one.
   */
  readonly partitions: 'matching' | 'first' | 'single';
  /**
   * Compacted topics keep the newest record of each key; the others keep everything. A broker compacts without regard
   * to seals, so a forged record would remove the good one of its key: sealed topics are compacted only where they
   * would grow without bound.
   */
  readonly compacted: boolean;
  readonly maxMessageBytes: number;
  /** When a compacted topic is compacted and not before, milliseconds; without it when the broker thinks fit. */
  readonly compactAfterMs?: number;
  /**
   * Roles of the keys that may write it. A topic with writers moves money or grants rights: each of its records carries
   * the seal of one of them, and readers count no other record. A topic without is not sealed.
   */
  readonly writers?: readonly SealRole[];
}

const mebibyte = 1 << 20;

const topic = <const S extends AvroSchema>(
  name: string,
  value: S,
  kept: Pick<Topic, 'partitions' | 'compacted'> &
    Partial<Pick<Topic, 'maxMessageBytes' | 'compactAfterMs' | 'writers'>>,
): Topic<S> => ({ name, value, maxMessageBytes: mebibyte, ...kept });

/** All topics of the exchange. The order is the order in which they are made. */
export const topics = {
  orders: topic('orders', envelope, { partitions: 'matching', compacted: false }),
  executions: topic('executions', execution, {
    partitions: 'matching',
    compacted: false,
    maxMessageBytes: 16 * mebibyte,
  }),
  serviceKeys: topic('service-keys', serviceKeyEntry, {
    partitions: 'single',
    compacted: false,
    writers: ['ROOT'],
  }),
  transfers: topic('transfers', transfer, {
    partitions: 'single',
    compacted: false,
    writers: ['INGRESS', 'OPERATOR', 'LEDGER'],
  }),
  routing: topic('routing', route, {
    partitions: 'single',
    compacted: false,
    writers: ['OPERATOR'],
  }),
  catalog: topic('catalog', catalogEntry, {
    partitions: 'single',
    compacted: false,
    writers: ['OPERATOR'],
  }),
  credentials: topic('credentials', credential, {
    partitions: 'single',
    compacted: false,
    writers: ['INGRESS'],
  }),
  readKeys: topic('read-keys', readKey, {
    partitions: 'single',
    compacted: false,
    writers: ['INGRESS'],
  }),
  agents: topic('agents', agentEntry, {
    partitions: 'single',
    compacted: true,
    writers: ['INGRESS'],
  }),
  walletStatus: topic('wallet-status', walletStatus, {
    partitions: 'single',
    compacted: false,
    writers: ['OPERATOR'],
  }),
  withdrawalFreezes: topic('withdrawal-freezes', withdrawalFreeze, {
    partitions: 'single',
    compacted: false,
    writers: ['OPERATOR', 'LEDGER'],
  }),
  walletOwners: topic('wallet-owners', walletOwner, {
    partitions: 'single',
    compacted: false,
    writers: ['OPERATOR'],
  }),
  notificationMarks: topic('notification-marks', notificationMark, {
    partitions: 'single',
    compacted: true,
  }),
  approvals: topic('approvals', approval, {
    partitions: 'single',
    compacted: false,
    writers: ['OPERATOR'],
  }),
  audit: topic('audit', auditRecord, { partitions: 'single', compacted: false }),
  // Every key is written every few seconds: uncompacted for long, it would take long to read at a start.
  sessions: topic('sessions', sessionRecord, {
    partitions: 'first',
    compacted: true,
    compactAfterMs: 600_000,
    writers: ['INGRESS'],
  }),
  comments: topic('comments', commentEvent, { partitions: 'single', compacted: false }),
  profiles: topic('profiles', profile, { partitions: 'single', compacted: true }),
  deadLetters: topic('dead-letters', deadLetter, { partitions: 'single', compacted: false }),
} as const;

/** The subject a topic's value schema is registered under (TopicNameStrategy of the registry). */
export function subjectOf(topicName: string): string {
  return `${topicName}-value`;
}

/**
 * The consumer group in which a view is projected. What it has committed says how far its store is: everything below
 * is in. Readers that join stored rows with newer records (query-api) use it.
 */
export function projectorGroup(topicPrefix: string, view: string): string {
  return `${topicPrefix}projector-${view}`;
}

/** Consumer group in which matchers share the partitions. */
export function matcherGroup(topicPrefix: string): string {
  return `${topicPrefix}matchers`;
}

/** The registry's header: a zero byte and the schema id, big-endian. */
export const registryHeaderBytes = 5;
