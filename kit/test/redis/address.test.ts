import {
  isRedisAddress,
  sentinelAddressOf,
  serverOf,
  splitAccount,
} from '../../src/redis/address.ts';

test.each([
  ['redis://h', { address: 'redis://h', username: '', password: '' }],
  ['rediss://me:s%40%3A@h:1/2', { address: 'rediss://h:1/2', username: 'me', password: 's@:' }],
  ['redis://:a:b%@h', { address: 'redis://h', username: '', password: 'a:b%' }],
  ['https://me:p@ss@h/x@y', { address: 'https://h/x@y', username: 'me', password: 'p@ss' }],
  [
    'redis+sentinel://me:secret@a:1,b:2/pm',
    { address: 'redis+sentinel://a:1,b:2/pm', username: 'me', password: 'secret' },
  ],
])('the account is taken out of %s', (given, split) => {
  expect(splitAccount(given)).toEqual(split);
});

test('one server has a host, a port and a database', () => {
  expect(serverOf('redis://h')).toEqual({ host: 'h', port: 6_379, db: 0 });
  expect(serverOf('rediss://[::1]:6380/3')).toEqual({ host: '::1', port: 6_380, db: 3 });
});

test('Sentinels have hosts, ports and the name of what they watch', () => {
  expect(sentinelAddressOf('redis+sentinel://a,b.example:2/pm')).toEqual({
    sentinels: [
      { host: 'a', port: 26_379 },
      { host: 'b.example', port: 2 },
    ],
    name: 'pm',
    db: 0,
  });
  expect(sentinelAddressOf('rediss+sentinel://[fe80::1]:7/pm-1/4')).toEqual({
    sentinels: [{ host: 'fe80::1', port: 7 }],
    name: 'pm-1',
    db: 4,
  });
});

test.each([
  ['redis://h:6379/1', true],
  ['redis+sentinel://u:p@a:1/pm', true],
  [`redis+sentinel://${Array.from({ length: 16 }, (_, at) => `h${at}`).join()}/pm`, true],
  [`redis+sentinel://${Array.from({ length: 17 }, (_, at) => `h${at}`).join()}/pm`, false],
  ['redis+sentinel://a:1', false],
  ['redis+sentinel://a:1,/pm', false],
  ['redis+sentinel://a:0/pm', false],
  ['redis+sentinel://a:65536/pm', false],
  ['redis+sentinel://a/pm/x', false],
  ['redis+cluster://a/pm', false],
  ['http://a', false],
  ['redis://', false],
])('%s may be used: %s', (given, isUsed) => {
  expect(isRedisAddress(given)).toBe(isUsed);
});
