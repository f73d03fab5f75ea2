export type { LogAdmin, PartitionOwner, TopicSpec } from './admin.ts';
export type { GroupOptions, PartitionGroup } from './group.ts';
export type { CommittedPosition } from './group-commits.ts';
export { openLogClient } from './kafkajs-client.ts';
export { defaultLimits, type LogClientLimits } from './limits.ts';
export type { LogClient } from './log-client.ts';
export type { LogClientOptions } from './options.ts';
export type { LogProducer } from './producer.ts';
export { type FollowOptions, followCompacted, type RangeOptions, readRange } from './range.ts';
export type { LogReader, ReaderOptions } from './reader.ts';
export type {
  IncomingRecord,
  OutgoingRecord,
  PartitionBounds,
  RecordBatch,
  RecordPlace,
} from './records.ts';
export type { SendQueueLimits } from './send-queue.ts';
export { assign, type MemberClaim } from './sticky-assignor.ts';
