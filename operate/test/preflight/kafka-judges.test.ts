import type { AclEntry, TopicDifference } from '@pm/kit/kafka';
import {
  judgeCopies,
  judgeCreations,
  judgeExisting,
  judgeFailover,
  judgeIdempotence,
  judgeInstallation,
  judgeRequestSize,
  judgeRequests,
  judgeRights,
  judgeSetting,
} from '../../src/preflight/kafka-judges.ts';

const allRequests = new Map([0, 1, 3, 19, 22, 32].map((key) => [key, 12]));
const without = (key: number) => new Map([...allRequests].filter(([one]) => one !== key));
const difference: TopicDifference = {
  topic: 'orders',
  field: 'min.insync.replicas',
  wanted: '2',
  found: null,
};
const minInSync = ['min.insync.replicas'];

test('brokers need the requests that are used, and producer ids', () => {
  expect(judgeRequests({ requests: allRequests }).verdict).toBe('yes');
  expect(judgeRequests({ requests: new Map([...allRequests, [1, 3]]) })).toMatchObject({
    verdict: 'no',
    line: 'the brokers lack Fetch 4',
  });
  expect(judgeIdempotence({ requests: allRequests }).verdict).toBe('yes');
  expect(judgeIdempotence({ requests: without(22) }).verdict).toBe('no');
});

test('as many brokers are needed as each topic has copies', () => {
  expect(judgeCopies({ brokers: [1, 2, 3], copies: 3 }).verdict).toBe('yes');
  expect(judgeCopies({ brokers: [1, 2], copies: 3 })).toMatchObject({
    verdict: 'no',
    todo: expect.stringContaining('--replication'),
  });
});

test('a topic that exists fits unless it differs in what may not be left out', () => {
  const found = (differences: readonly TopicDifference[], hidden: readonly string[] = []) =>
    judgeExisting({ differences: new Map([['orders', differences]]), hidden });
  expect(found([]).verdict).toBe('yes');
  expect(found([difference])).toMatchObject({
    verdict: 'no',
    todo: 'set it, or allow it by PM_KAFKA_HIDDEN_SETTINGS=min.insync.replicas',
  });
  expect(found([difference], minInSync)).toMatchObject({
    verdict: 'yes',
    line: expect.stringContaining('min.insync.replicas'),
  });
  expect(found([{ ...difference, found: '1' }], minInSync)).toMatchObject({
    verdict: 'no',
    todo: 'change the topic',
  });
});

test.each([
  ['INVALID_REPLICATION_FACTOR', '--replication'],
  ['TOPIC_AUTHORIZATION_FAILED', 'the right Create'],
  ['POLICY_VIOLATION', 'which setting'],
])('a creation that is refused with %s says what to do', (answer, todo) => {
  const refused = new Map([['orders', answer]]);
  expect(judgeCreations({ missing: 2, refused })).toMatchObject({
    verdict: 'no',
    line: `orders: ${answer}`,
    todo: expect.stringContaining(todo),
  });
  expect(judgeCreations({ missing: 2, refused: new Map() }).verdict).toBe('yes');
});

test('a setting fits when brokers take it and show it, or when it may be left out', () => {
  const [setting = ''] = minInSync;
  const taken = { setting, hidden: [], shown: minInSync, refused: new Map(), differences: [] };
  const refused = new Map([['orders', 'INVALID_CONFIG']]);
  expect(judgeSetting(taken).verdict).toBe('yes');
  expect(judgeSetting({ ...taken, refused })).toMatchObject({
    verdict: 'no',
    todo: expect.stringContaining(`PM_KAFKA_HIDDEN_SETTINGS=${setting}`),
  });
  expect(judgeSetting({ ...taken, shown: null }).verdict).toBe('unknown');
  const other = new Map([['orders', 'INVALID_REPLICATION_FACTOR']]);
  expect(judgeSetting({ ...taken, refused: other }).verdict).toBe('unknown');
  expect(judgeSetting({ ...taken, shown: [] })).toMatchObject({
    verdict: 'no',
    todo: expect.stringContaining(`PM_KAFKA_HIDDEN_SETTINGS=${setting}`),
  });
  expect(judgeSetting({ ...taken, shown: [], hidden: minInSync }).verdict).toBe('yes');
  expect(judgeSetting({ ...taken, refused, hidden: minInSync }).verdict).toBe('yes');
  expect(judgeSetting({ ...taken, differences: [difference] }).verdict).toBe('no');
  const hidden = { ...taken, hidden: minInSync };
  expect(judgeSetting({ ...hidden, differences: [difference] }).verdict).toBe('yes');
  expect(judgeSetting({ ...hidden, differences: [{ ...difference, found: '1' }] }).verdict).toBe(
    'no',
  );
});

test('a request must hold the largest record, as far as brokers show how large one may be', () => {
  const settings = (bytes: string) =>
    new Map([[1, new Map([['socket.request.max.bytes', bytes]])]]);
  expect(judgeRequestSize({ settings: settings('101'), recordBytes: 100 }).verdict).toBe('yes');
  expect(judgeRequestSize({ settings: settings('100'), recordBytes: 100 }).verdict).toBe('no');
  expect(judgeRequestSize({ settings: new Map(), recordBytes: 100 }).verdict).toBe('unknown');
});

test('slow brokers fit, and the line says how slow they are', () => {
  const slow = new Map([[1, new Map([['group.min.session.timeout.ms', '6000']])]]);
  expect(judgeFailover(slow)).toMatchObject({
    verdict: 'yes',
    line: expect.stringContaining('group.min.session.timeout.ms is 6000'),
  });
  expect(judgeFailover(new Map()).verdict).toBe('unknown');
  const one = new Map([[1, new Map([['group.min.session.timeout.ms', '1000']])]]);
  expect(judgeFailover(one).line).toBe('one broker, which cannot be replaced');
});

const allowed: AclEntry = {
  principal: 'User:pm-x',
  operation: 'Read',
  kind: 'topic',
  name: 'orders',
  isPrefix: false,
  isDenial: false,
  isOfOneHost: false,
};
const rights = [{ operations: ['Read'], kind: 'topic' as const, names: ['orders'] }];

test.each([
  ['no ACLs at all', { refusal: 'SECURITY_DISABLED' }, 'yes'],
  ['ACLs that may not be read', { refusal: 'CLUSTER_AUTHORIZATION_FAILED' }, 'unknown'],
  ['no ACL of the account', [{ ...allowed, principal: 'User:other' }], 'unknown'],
  ['the right itself', [allowed], 'yes'],
  ['every operation', [{ ...allowed, operation: 'All' }], 'yes'],
  ['a prefix', [{ ...allowed, name: 'ord', isPrefix: true }], 'yes'],
  ['all topics', [{ ...allowed, name: '*' }], 'yes'],
  ['another right of everyone', [{ ...allowed, principal: 'User:*', name: 'other' }], 'unknown'],
  ['the right at one host', [{ ...allowed, isOfOneHost: true }], 'unknown'],
  ['a denial for one host', [allowed, { ...allowed, isDenial: true, isOfOneHost: true }], 'yes'],
  ['the right of everyone', [{ ...allowed, principal: 'User:*' }], 'yes'],
  ['another operation', [{ ...allowed, operation: 'Write' }], 'no'],
  ['another topic', [{ ...allowed, name: 'executions' }], 'no'],
  ['a group of that name', [{ ...allowed, kind: 'group' as const }], 'no'],
  ['the right and a denial', [allowed, { ...allowed, name: '*', isDenial: true }], 'no'],
])('an account with %s', (_, acls, verdict) => {
  expect(judgeRights({ principal: 'User:pm-x', rights, acls }).verdict).toBe(verdict);
});

test('who may create at the cluster may create topics', () => {
  const create = [{ operations: ['Create'], kind: 'topic' as const, names: ['orders'] }];
  const atCluster: AclEntry = { ...allowed, kind: 'cluster', name: 'kafka-cluster' };
  const found = (operation: string) =>
    judgeRights({ principal: 'User:pm-x', rights: create, acls: [{ ...atCluster, operation }] });
  expect([found('Create').verdict, found('Describe').verdict]).toEqual(['yes', 'no']);
});

test('who may read may describe', () => {
  const describe = [{ operations: ['Describe'], kind: 'topic' as const, names: ['orders'] }];
  const found = { principal: 'User:pm-x', rights: describe, acls: [allowed] };
  expect(judgeRights(found).verdict).toBe('yes');
});

test('a log with other keys does not fit', () => {
  expect(judgeInstallation({ opened: 0, foreign: null }).verdict).toBe('yes');
  expect(judgeInstallation({ opened: 8, foreign: null }).verdict).toBe('yes');
  expect(judgeInstallation({ opened: 8, foreign: 'other keys' })).toMatchObject({
    verdict: 'no',
    line: 'other keys',
  });
});
