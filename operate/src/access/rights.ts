import { sealedTopics } from '@pm/domain/authority/sealed-log.io';
import { matcherGroup, projectorGroup, topics } from '@pm/schemas/log/topics';
import type { RedisKeys } from '@pm/schemas/redis/keys';

export type TopicName = keyof typeof topics;

/** Operations on topics and groups, as `kafka-acls.sh` names them. Read and Write include Describe. */
export type TopicOperation =
  | 'Read'
  | 'Write'
  | 'Describe'
  | 'Create'
  | 'Delete'
  | 'Alter'
  | 'DescribeConfigs'
  | 'AlterConfigs';
export type GroupOperation = 'Read' | 'Describe';

export interface TopicRight {
  readonly operations: readonly TopicOperation[];
  readonly topics: readonly TopicName[];
  /** The copies that `npm run repair` makes of these topics, in place of the topics. */
  readonly ofCopies?: true;
}

export interface GroupRight {
  readonly operation: GroupOperation;
  /** Names of consumer groups under a topic prefix. */
  names(topicPrefix: string): readonly string[];
}

/** Keys of Redis that an account may use; one with an argument stands for all of its kind. */
export type RedisKeyName = Exclude<
  keyof RedisKeys,
  | 'bookPrefix'
  | 'walletPrefix'
  | 'bookMarkOf'
  | 'bookClockOf'
  | 'bookFoldOf'
  | 'ledgerMarkOf'
  | 'ledgerClockOf'
>;

export interface RedisRights {
  readonly reads: readonly RedisKeyName[];
  /** Keys of scripts count as written, whatever a script does with them. */
  readonly writes: readonly RedisKeyName[];
  /** Lower case; a subcommand follows its command after `|`. */
  readonly commands: readonly string[];
  readonly channels: readonly string[];
}

/** Everything that one service or tool may do at the engines. */
export interface DeclaredAccess {
  /** Its account is `pm-<name>` at Kafka and Redis, and `pm_<name>` at ClickHouse. */
  readonly name: string;
  readonly topics: readonly TopicRight[];
  readonly groups: readonly GroupRight[];
  /** At the Redis of the ledger; null without an account. */
  readonly redis: RedisRights | null;
  /** At the Redis of what is kept for a time. Where both are one server, its account has the rights of both. */
  readonly redisCache?: RedisRights;
  /** Role of `operate/src/roles`; null without an account. */
  readonly clickhouseRole: string | null;
}

/** ioredis asks for INFO before a connection counts as ready, and selects the database that a URL names. */
export const connecting = ['info', 'select'];
/** Scripts of the exchange. */
export const scripts = ['eval', 'evalsha'];
/** Views that are folded in a group, by topic. */
export const executionViews = ['books', 'ledger', 'tables'];
/** The consumer groups of these views. */
export const groupsOf = (views: readonly string[]) => (topicPrefix: string) =>
  views.map((view) => projectorGroup(topicPrefix, view));
/** The consumer group of matchers. */
export const matchers = (topicPrefix: string) => [matcherGroup(topicPrefix)];

/** All topics. */
export const allTopics = Object.keys(topics) as TopicName[];
/** The topics whose records carry seals. */
export const sealed = allTopics.filter((name) =>
  sealedTopics().some(({ topic }) => topic === topics[name]),
);
