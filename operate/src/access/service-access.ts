import {
  connecting,
  type DeclaredAccess,
  executionViews,
  groupsOf,
  matchers,
  type RedisKeyName,
  scripts,
  type TopicName,
} from './rights.ts';

/** Redis commands for values that are counted and noted for a time: requests, and uses of agents. */
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
/** Redis commands of the scripts and reads that reserve money and release it. */
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
/** Keys of the scripts that reserve money and release it. */
const reservationKeys: readonly RedisKeyName[] = [
  'ledgerState',
  'pending',
  'waiting',
  'wallet',
  'ledgerTransfers',
  'ledgerInsolvent',
  'ledgerBreaches',
];
/** Where CLIENT TRACKING reports changes to a connection of RESP2. */
const invalidations = '__redis__:invalidate';

/** Topics that the reading services follow; their table is in `domain/src/reading/followed-topics.io.ts`. */
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

/** Services. */
export const serviceAccess: readonly DeclaredAccess[] = [
  {
    name: 'ingress',
    topics: [
      // Reads the first record of `orders`, and the results in `executions`.
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
      reads: ['ledgerMarks'],
      writes: reservationKeys,
      commands: [...connecting, ...scripts, ...reserving],
      channels: [],
    },
    redisCache: {
      reads: [],
      writes: [
        'limits',
        'limitsBytes',
        'limitsInUse',
        'retry',
        'retries',
        'usedProofs',
        'agentsSeen',
        'agentsFlush',
        'keyReaders',
      ],
      commands: [
        ...connecting,
        ...scripts,
        ...counting,
        'del',
        'hget',
        'ping',
        'pttl',
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
      // Reads the first record of `orders`, and the results in `executions`. Comments are hidden by a record.
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
      // Reads in `credentials` whose addresses are proven.
      { operations: ['Read'], topics: ['executions', 'serviceKeys', 'credentials'] },
      { operations: ['Write'], topics: ['transfers', 'routing'] },
    ],
    groups: [],
    redis: {
      reads: ['ledgerMarks', 'ledgerMarkets'],
      writes: [...reservationKeys, 'movedAlone'],
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
      { operations: ['Read'], topics: ['serviceKeys'] },
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
      // Starts of generations, and fences between withdrawals.
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
        'scan',
        'srandmember',
        'srem',
        'sunionstore',
        'time',
        'unlink',
        'zrangebyscore',
        'zrevrangebyscore',
      ],
      channels: [],
    },
    clickhouseRole: 'pm_writer',
  },
  {
    name: 'query-api',
    // Reads the first record and the ends of `orders`.
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
      writes: ['limits', 'limitsBytes', 'limitsInUse', 'agentsSeen', 'keyReaders'],
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
