import {
  allTopics,
  connecting,
  type DeclaredAccess,
  executionViews,
  groupsOf,
  matchers,
  scripts,
  sealed,
} from './rights.ts';

/** Tools, which run while an operator needs them. */
export const toolAccess: readonly DeclaredAccess[] = [
  {
    name: 'setup',
    topics: [
      {
        operations: ['Describe', 'Create', 'DescribeConfigs', 'AlterConfigs'],
        topics: allTopics,
      },
      // It adds partitions, which begin with the mode of all markets that operators asked for.
      { operations: ['Alter'], topics: ['orders', 'executions'] },
      { operations: ['Read'], topics: ['audit'] },
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
      // Reads in `executions` whether a change was carried out.
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
      commands: [...connecting, ...scripts, 'del', 'get', 'pttl', 'set'],
      channels: [],
    },
    clickhouseRole: null,
  },
  {
    name: 'repair',
    topics: [
      { operations: ['Read'], topics: ['orders', 'serviceKeys'] },
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
