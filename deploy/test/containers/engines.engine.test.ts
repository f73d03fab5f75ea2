import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerRuntime } from '../../src/containers/engine-images.ts';
import { type ContainerEngines, startContainerEngines } from '../../src/containers/engines.ts';
import { freeEnginePorts } from '../../src/local/ports.ts';
import { messageOf } from '../../src/local/stack-error.ts';
import { openingsAt, setUpExchange } from '../../src/setup/exchange-setup.ts';
import { loadOrMakeKeys } from '../../src/setup/keys.ts';

/** Making an image takes minutes, once. */
const startMaxMs = 900_000;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pm-containers-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test(
  'an exchange is set up on engines in containers, which are gone after the stop',
  async () => {
    const reason = await containerRuntime().then(() => null, messageOf);
    if (reason !== null) {
      process.stderr.write(`NOT RUN: engines in containers, because ${reason.split('\n')[0]}\n`);
      return;
    }
    const ports = await freeEnginePorts();
    const engines = await startContainerEngines({
      dataDir: join(folder, 'data'),
      logDir: join(folder, 'logs'),
      ports,
      progress: (line) => process.stderr.write(`containers: ${line}\n`),
    });
    try {
      expect(await openedOn(engines)).toBe(2);
      expect(await isOpen(ports.redis)).toBe(true);
    } finally {
      await engines.stop();
    }
    for (const port of [ports.kafka, ports.registry, ports.clickhouse, ports.redis])
      expect([port, await isOpen(port)]).toEqual([port, false]);
  },
  startMaxMs,
);

/** Partitions that set-up has opened on these engines, with topics, schemas and tables. */
async function openedOn({ urls, access }: ContainerEngines): Promise<number> {
  await setUpExchange({
    urls,
    access,
    keys: loadOrMakeKeys(join(folder, 'keys.json')),
    feeWallet: `0x${'fe'.repeat(20)}` as never,
    partitions: 2,
    replicationFactor: 1,
    progress: () => {},
  });
  return (await openingsAt({ urls, access })).size;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}
