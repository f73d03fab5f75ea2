export type { LogAdmin } from './admin.io.ts';
export type { AclEntry, ClusterSurvey } from './cluster-survey.io.ts';
export type { GroupOptions, PartitionGroup } from './group.io.ts';

export { openLogClient } from './kafkajs-client.io.ts';
export type { LogClientOptions } from './kafkajs-connection.io.ts';

export { toolLimits } from './limits.ts';
export type { LogClient } from './log-client.io.ts';
export { type FollowedTopic, NewestRecords } from './newest-records.io.ts';
export type { LogProducer } from './producer.io.ts';
export { followCompacted, readRange } from './range.io.ts';
export { isStall, type LogReader, type ReaderOptions } from './reader.io.ts';
export { readerSilenceMaxMs } from './reader-silence.ts';
export type {
  IncomingRecord,
  OutgoingRecord,
  PartitionBounds,
  RecordBatch,
  RecordPlace,
} from './records.ts';
export { defaultMaxWaitMs } from './topic-reader.io.ts';
export {
  allowanceOf,
  configOf,
  isAllowed,
  isCompactedByMistake,
  settingRefusals,
  type TopicDifference,
  type TopicSpec,
  topicSettings,
} from './topic-spec.ts';
export { openWatchedLog, readerMetrics, WatchedLog } from './watched-log.io.ts';
