import { engineMode } from '../../src/stack/mode.ts';

const urls = {
  PM_KAFKA_BROKERS: 'kafka:9092',
  PM_REGISTRY_URL: 'http://registry/apis/ccompat/v7',
  PM_CLICKHOUSE_URL: 'http://clickhouse:8123',
  PM_REDIS_URL: 'redis://redis:6379',
};

test('engines are local by default', () => {
  expect(engineMode({})).toEqual({ kind: 'local' });
});

test('engines in containers need no URL', () => {
  expect(engineMode({ STACK: 'containers' })).toEqual({ kind: 'containers' });
});

test('an unknown mode is refused with the list', () => {
  expect(() => engineMode({ STACK: 'docker' })).toThrow(
    'STACK=docker is not one of: local, containers, external',
  );
});

test('external engines need every URL, and the missing ones are named', () => {
  const { PM_REDIS_URL: _, ...incomplete } = urls;
  expect(() => engineMode({ STACK: 'external', ...incomplete })).toThrow('PM_REDIS_URL');
  expect(engineMode({ STACK: 'external', ...urls })).toEqual({
    kind: 'external',
    urls: {
      kafka: 'kafka:9092',
      registry: 'http://registry/apis/ccompat/v7',
      clickhouse: 'http://clickhouse:8123',
      redis: 'redis://redis:6379',
    },
    access: {},
  });
});

test('what external engines ask of who connects goes to the services, and so do the names there', () => {
  const access = {
    PM_CLICKHOUSE_USER: 'exchange',
    PM_CLICKHOUSE_PASSWORD: 'secret',
    PM_REDIS_CACHE_URL: 'redis://cache:6380',
  };
  const names = {
    PM_TOPIC_PREFIX: 'east-',
    PM_REDIS_PREFIX: 'east',
    PM_CLICKHOUSE_DATABASE: 'east',
  };
  const given = { STACK: 'external', ...urls, ...access, ...names };
  expect(engineMode({ ...given, PM_PORT_REDIS: '1' })).toEqual({
    kind: 'external',
    urls: expect.anything(),
    access: { ...access, ...names },
  });
});

test.each([
  ['PM_TOPIC_PREFIX', 'east/'],
  ['PM_REDIS_PREFIX', 'east:'],
  ['PM_CLICKHOUSE_DATABASE', 'ea-st'],
])('%s=%s is refused before anything is made, with what is allowed', (name, value) => {
  expect(() => engineMode({ STACK: 'external', ...urls, [name]: value })).toThrow(
    `${name}=${value}: allowed is text like ^`,
  );
});
