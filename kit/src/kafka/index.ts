export type { LogAdmin, PartitionOwner, TopicSpec } from './admin.io.ts';
export type { GroupOptions, PartitionGroup } from './group.io.ts';
export type { CommittedPosition } from './group-commits.io.ts';
export { openLogClient } from './kafkajs-client.io.ts';
export { defaultLimits, type LogClientLimits } from './limits.ts';
export type { LogClient, LogClientOptions } from './log-client.io.ts';
export type { LogProducer } from './producer.io.ts';
export { type FollowOptions, followCompacted, type RangeOptions, readRange } from './range.io.ts';
export type { LogReader, ReaderOptions } from './reader.io.ts';
export type {
  IncomingRecord,
  OutgoingRecord,
  PartitionBounds,
  RecordBatch,
  RecordPlace,
} from './records.ts';
export type { SendQueueLimits } from './send-queue.ts';
export { assign, type MemberClaim } from './sticky-assignment.ts';
