import { sealedTopics } from '@pm/domain/authority/sealed-log.io';
import { matcherGroup, projectorGroup, type RedisKeys, topics } from '@pm/schemas';

export type TopicName = keyof typeof topics;

/** Operations on topics and groups, as `kafka-acls.sh` names them. Read and Write include Describe. */
export type TopicOperation =
  | 'Read'
  | 'Write'
  | 'Describe'
  | 'Create'
  | 'Delete'
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
const connecting = ['info', 'select'];
const scripts = ['eval', 'evalsha'];
/** Of what is counted and noted for a time: requests, and uses of agents. */
const counting = [
  'hdel',
  'hexists',
  'hgetall',
  'hincrby',
  'hlen',
  'hmget',
  'hset',
  'pexpire',
  'time',
];
/** Of the scripts and reads that reserve money and release it. */
const reserving = [
  'exists',
  'hdel',
  'hget',
  'hincrby',
  'hmget',
  'hset',
  'sismember',
  'zadd',
  'zrem',
];
/** Where CLIENT TRACKING reports changes to a connection of RESP2. */
const invalidations = '__redis__:invalidate';

/** Topics that the reading services follow; their table is in `query-api/src/door/followed-topics.io.ts`. */
const followed: readonly TopicName[] = [
  'catalog',
  'credentials',
  'walletOwners',
  'notificationMarks',
  'readKeys',
  'agents',
  'comments',
  'profiles',
  'withdrawalFreezes',
];

/** Views that are folded in a group, by topic. */
const executionViews = ['books', 'ledger', 'tables'];
const groupsOf = (views: readonly string[]) => (topicPrefix: string) =>
  views.map((view) => projectorGroup(topicPrefix, view));
const matchers = (topicPrefix: string) => [matcherGroup(topicPrefix)];

const allTopics = Object.keys(topics) as TopicName[];
const sealed = allTopics.filter((name) =>
  sealedTopics().some(({ topic }) => topic === topics[name]),
);

const services: readonly DeclaredAccess[] = [
  {
    name: 'ingress',
    topics: [
      // Of `orders` it reads the first record, and of `executions` the results.
      {
        operations: ['Read', 'Write'],
        topics: [
          'orders',
          'credentials',
          'readKeys',
          'agents',
          'notificationMarks',
          'sessions',
          'comments',
          'profiles',
        ],
      },
      {
        operations: ['Read'],
        topics: [
          'executions',
          'serviceKeys',
          'catalog',
          'walletStatus',
          'withdrawalFreezes',
          'walletOwners',
        ],
      },
      { operations: ['Write'], topics: ['transfers'] },
    ],
    groups: [],
    redis: {
      reads: [],
      writes: [
        'ledgerState',
        'pending',
        'waiting',
        'wallet',
        'ledgerTransfers',
        'ledgerInsolvent',
        'ledgerBreaches',
      ],
      commands: [...connecting, ...scripts, ...reserving],
      channels: [],
    },
    redisCache: {
      reads: [],
      writes: [
        'limits',
        'limitsBytes',
        'retry',
        'retries',
        'usedProofs',
        'agentsSeen',
        'agentsFlush',
      ],
      commands: [
        ...connecting,
        ...scripts,
        ...counting,
        'del',
        'hget',
        'ping',
        'set',
        'zadd',
        'zcard',
        'zremrangebyscore',
        'zscore',
      ],
      channels: [],
    },
    clickhouseRole: null,
  },
  {
    name: 'operator',
    topics: [
      // Of `orders` it reads the first record, and of `executions` the results. Comments are hidden by a record.
      {
        operations: ['Read', 'Write'],
        topics: [
          'orders',
          'catalog',
          'walletStatus',
          'withdrawalFreezes',
          'walletOwners',
          'approvals',
          'audit',
          'comments',
        ],
      },
      // Of `credentials` it learns whose addresses are proven.
      { operations: ['Read'], topics: ['executions', 'serviceKeys', 'credentials'] },
      { operations: ['Write'], topics: ['transfers', 'routing'] },
    ],
    groups: [],
    redis: {
      reads: [],
      writes: [
        'ledgerState',
        'pending',
        'waiting',
        'wallet',
        'ledgerTransfers',
        'ledgerInsolvent',
        'ledgerBreaches',
        'deposited',
      ],
      commands: [...connecting, ...scripts, ...reserving, 'pexpire'],
      channels: [],
    },
    clickhouseRole: null,
  },
  {
    name: 'matcher',
    topics: [
      // Ticks go to `orders`. It starts only on topics whose settings keep what was acknowledged.
      { operations: ['Read', 'Write', 'DescribeConfigs'], topics: ['orders', 'executions'] },
      { operations: ['Write'], topics: ['deadLetters'] },
    ],
    groups: [{ operation: 'Read', names: matchers }],
    redis: null,
    clickhouseRole: null,
  },
  {
    name: 'projectors',
    topics: [
      { operations: ['Read'], topics: ['executions', 'catalog', 'serviceKeys'] },
      // Beginnings of generations, and fences between withdrawals.
      { operations: ['Read', 'Write'], topics: ['transfers'] },
      { operations: ['Write'], topics: ['orders', 'withdrawalFreezes'] },
    ],
    groups: [{ operation: 'Read', names: groupsOf([...executionViews, 'transfers']) }],
    redis: {
      reads: [],
      writes: [
        'book',
        'bookMarks',
        'wallet',
        'pending',
        'waiting',
        'ledgerMarks',
        'ledgerInsolvent',
        'ledgerMarkets',
        'ledgerBreaches',
        'ledgerTransfers',
        'ledgerState',
      ],
      commands: [
        ...connecting,
        ...scripts,
        ...reserving,
        'del',
        'hexists',
        'hlen',
        'hrandfield',
        'hsetnx',
        'sadd',
        'srandmember',
        'srem',
        'sunionstore',
        'zrangebyscore',
        'zrevrangebyscore',
      ],
      channels: [],
    },
    clickhouseRole: 'pm_writer',
  },
  {
    name: 'query-api',
    // Of `orders` it reads the first record and the ends.
    topics: [
      { operations: ['Read'], topics: ['orders', 'executions', 'serviceKeys', ...followed] },
    ],
    groups: [
      { operation: 'Describe', names: matchers },
      { operation: 'Describe', names: groupsOf(['tables']) },
    ],
    redis: {
      reads: ['book', 'bookMarks', 'wallet', 'ledgerMarks', 'ledgerState'],
      writes: [],
      commands: [
        ...connecting,
        'client|id',
        'client|tracking',
        'hget',
        'hmget',
        'hscan',
        'ping',
        'subscribe',
      ],
      channels: [invalidations],
    },
    redisCache: {
      reads: [],
      writes: ['limits', 'limitsBytes', 'agentsSeen'],
      commands: [...connecting, ...scripts, ...counting, 'ping'],
      channels: [],
    },
    clickhouseRole: 'pm_reader',
  },
  {
    name: 'streams',
    topics: [
      {
        operations: ['Read'],
        topics: ['executions', 'serviceKeys', 'transfers', 'sessions', ...followed],
      },
    ],
    groups: [],
    redis: null,
    clickhouseRole: null,
  },
];

const tools: readonly DeclaredAccess[] = [
  {
    name: 'setup',
    topics: [
      {
        operations: ['Describe', 'Create', 'DescribeConfigs', 'AlterConfigs'],
        topics: allTopics,
      },
      // Openings of partitions, and keys of services.
      { operations: ['Read', 'Write'], topics: ['orders', 'serviceKeys'] },
    ],
    groups: [],
    redis: null,
    clickhouseRole: null,
  },
  {
    name: 'keys',
    topics: [
      // Of `executions` it reads whether a change was carried out.
      { operations: ['Read', 'Write'], topics: ['orders', 'serviceKeys'] },
      { operations: ['Read'], topics: ['executions'] },
    ],
    groups: [],
    redis: null,
    clickhouseRole: null,
  },
  {
    name: 'audit',
    topics: [{ operations: ['Read'], topics: ['orders', 'executions', ...sealed] }],
    groups: [],
    redis: {
      reads: ['book', 'bookMarks', 'wallet', 'ledgerMarks'],
      writes: [],
      commands: [...connecting, 'hget', 'hgetall'],
      channels: [],
    },
    clickhouseRole: 'pm_auditor',
  },
  {
    name: 'export',
    topics: [{ operations: ['Describe'], topics: ['executions'] }],
    groups: [],
    redis: null,
    clickhouseRole: 'pm_auditor',
  },
  {
    name: 'rebuild',
    topics: [{ operations: ['Read'], topics: ['executions', 'catalog', 'serviceKeys'] }],
    groups: [{ operation: 'Describe', names: groupsOf(['tables']) }],
    redis: {
      reads: [],
      writes: ['rebuild'],
      commands: [...connecting, ...scripts, 'del', 'get', 'set'],
      channels: [],
    },
    clickhouseRole: null,
  },
  {
    name: 'repair',
    topics: [
      { operations: ['Read'], topics: ['orders'] },
      ...[{}, { ofCopies: true } as const].map((which) => ({
        operations: ['Read', 'Write', 'Create', 'Delete', 'DescribeConfigs'] as const,
        topics: ['executions'] as const,
        ...which,
      })),
    ],
    groups: [
      { operation: 'Describe', names: matchers },
      // It sets their commits again.
      { operation: 'Read', names: groupsOf(executionViews) },
    ],
    redis: null,
    clickhouseRole: null,
  },
];

/**
 * What every service and tool reads and writes at the engines; the least that it works with. Statements for the engines
 * are made of it, and a test compares it with the sources. Creating and replacing tables (set-up, `npm run rebuild`)
 * takes an administrator of ClickHouse.
 */
export const declaredAccess: readonly DeclaredAccess[] = [...services, ...tools];

/** Its account at Kafka and Redis. */
export function accountOf({ name }: Pick<DeclaredAccess, 'name'>): string {
  return `pm-${name}`;
}
