import { ownContainer, publicContainers } from '../../src/containers/engine-containers.ts';
import type { ManagedProcess } from '../../src/local/managed-process.ts';
import { defaultPorts } from '../../src/local/ports.ts';

const images = { kafka: 'k:1', redis: 'r:1', clickhouse: 'c:1', registry: 'a:1' };

test('public images listen on the ports of a local stack, on the loopback address', () => {
  const { kafka, redis, clickhouse, registry } = publicContainers(images, defaultPorts, 'secret');
  expect(kafka.env).toMatchObject({
    KAFKA_LISTENERS: 'PLAINTEXT://127.0.0.1:19092,CONTROLLER://127.0.0.1:19093',
    KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://127.0.0.1:19092',
    KAFKA_LOG_DIRS: '/var/lib/kafka/data',
    KAFKA_NODE_ID: '1',
  });
  expect(redis.command).toEqual(
    expect.arrayContaining(['redis-server', '--bind', '127.0.0.1', '--port', '16379']),
  );
  expect(clickhouse.command).toEqual(
    expect.arrayContaining(['--http_port=18123', '--listen_host=127.0.0.1', '--tcp_port=0']),
  );
  expect(clickhouse.env).toMatchObject({
    CLICKHOUSE_USER: 'pm_writer',
    CLICKHOUSE_PASSWORD: 'secret',
  });
  expect(registry.env).toMatchObject({
    QUARKUS_HTTP_PORT: '18081',
    APICURIO_KAFKASQL_BOOTSTRAP_SERVERS: '127.0.0.1:19092',
  });
});

test('a process runs in a container with its own variables, its files mounted and no standard input', () => {
  const engine: ManagedProcess = {
    name: 'clickhouse',
    command: '/opt/node',
    args: ['main.js', '--watch-stdin', '--port', '1'],
    env: { PATH: '/usr/bin', HOME: '/home/me', UV_THREADPOOL_SIZE: '12' },
    cwd: '/data/engines',
    logFile: '/data/logs/clickhouse.log',
    dependsOn: [],
    ports: [1],
    restart: true,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 1,
    readyTimeoutMs: 1,
    memoryHintBytes: 1,
    watchesStdin: true,
    prepare: async () => {},
    ready: async () => {},
  };
  const places = { image: 'base:1', dataDir: '/data', cacheDir: '/cache' };
  const container = ownContainer(engine, places, '/opt/node');
  expect(container).toMatchObject({
    image: 'base:1',
    entrypoint: ['/opt/node'],
    command: ['main.js', '--port', '1'],
    env: { UV_THREADPOOL_SIZE: '12' },
    workingDir: '/data/engines',
  });
  expect(container.mounts.filter(({ isWritten }) => isWritten)).toEqual([
    { path: '/data', isWritten: true },
  ]);
  expect(container.mounts).toContainEqual({ path: '/opt/node', isWritten: false });
});
