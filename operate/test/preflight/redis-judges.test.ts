import {
  judgeAccount,
  judgeEviction,
  judgeMemory,
  judgePersistence,
  judgeScripts,
  judgeShape,
  judgeVersion,
} from '../../src/preflight/redis-judges.ts';

test.each([
  ['6.2.14', 'yes'],
  ['7.0.0', 'yes'],
  ['10.0', 'yes'],
  ['6.0.16', 'no'],
  ['5.9', 'no'],
  ['', 'no'],
])('a Redis of version %s', (version, verdict) => {
  expect(judgeVersion({ version }).verdict).toBe(verdict);
});

test('one primary fits, and neither a replica nor a cluster', () => {
  const kind = { version: '7.2.0', isPrimary: true, isCluster: false };
  expect(judgeShape(kind).verdict).toBe('yes');
  expect(judgeShape({ ...kind, isPrimary: false }).verdict).toBe('no');
  expect(judgeShape({ ...kind, isCluster: true }).verdict).toBe('no');
});

test('scripts must run and get INFO, and keys must stay', () => {
  expect(judgeScripts('# Server\r\nrun_id:abc\r\n').verdict).toBe('yes');
  expect(judgeScripts('').verdict).toBe('no');
  expect(judgeEviction({ isEvicting: false }).verdict).toBe('yes');
  expect(judgeEviction({ isEvicting: true }).verdict).toBe('no');
});

test.each([
  ['always', 'always', 'yes'],
  ['everysec', 'always', 'no'],
  ['everysec', 'any', 'yes'],
  ['off', 'any', 'no'],
  ['unknown', 'always', 'unknown'],
] as const)('appendfsync %s where %s is wanted', (sync, wanted, verdict) => {
  expect(judgePersistence({ sync, wanted }).verdict).toBe(verdict);
});

test('maxmemory must be one and a half times what the cache may take', () => {
  expect(judgeMemory({ maxBytes: 0, cacheBytes: 100 }).verdict).toBe('yes');
  expect(judgeMemory({ maxBytes: 150, cacheBytes: 100 }).verdict).toBe('yes');
  expect(judgeMemory({ maxBytes: 149, cacheBytes: 100 })).toMatchObject({
    verdict: 'no',
    todo: expect.stringContaining('150'),
  });
});

const rights = {
  reads: ['pm:a'],
  writes: ['pm:b:*'],
  commands: ['get', 'config|get'],
  channels: ['invalidations'],
};
const account = {
  commands: ['-@all', '+get', '+config|get'],
  keys: ['%R~pm:a', '~pm:b:*'],
  channels: ['&invalidations'],
  categories: new Map([
    ['read', ['get', 'hget']],
    ['admin', ['config']],
  ]),
};

test.each([
  ['its commands and keys', account, 'yes'],
  ['all commands and keys', { ...account, commands: ['+@all'], keys: ['~*'] }, 'yes'],
  ['keys as Redis 6.2 shows them', { ...account, keys: ['pm:a', 'pm:b:*'] }, 'yes'],
  ['all keys with a beginning of theirs', { ...account, keys: ['~pm:*'] }, 'yes'],
  ['keys of another beginning', { ...account, keys: ['~pn:*'] }, 'no'],
  ['all channels', { ...account, channels: ['&*'] }, 'yes'],
  ['no channel', { ...account, channels: [] }, 'no'],
  ['a whole command', { ...account, commands: ['+get', '+config'] }, 'yes'],
  ['a command too few', { ...account, commands: ['+get'] }, 'no'],
  ['categories that have them', { ...account, commands: ['-@all', '+@read', '+@admin'] }, 'yes'],
  ['a category too few', { ...account, commands: ['-@all', '+@read'] }, 'no'],
  ['all but one of them', { ...account, commands: ['+@all', '-get'] }, 'no'],
  ['keys that it can only read', { ...account, keys: ['%R~pm:a', '%R~pm:b:*'] }, 'no'],
  ['nothing', null, 'unknown'],
])('an account with %s', (_, found, verdict) => {
  expect(judgeAccount({ name: 'pm-x', rights, account: found }).verdict).toBe(verdict);
});
