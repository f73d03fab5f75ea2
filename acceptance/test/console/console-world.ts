import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ExchangeClient } from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { freePorts, type Ports } from '@pm/deploy/local/ports';
import { manyTimes } from '@pm/deploy/stack/services';
import { openGateway } from '@pm/gateway/gateway';
import type { HttpApp } from '@pm/kit/http';
import { ExchangeUnderTest, until } from '../exchange-under-test.ts';

const partitions = 2;
const depositUsdc = '1000';

const local = (port: number) => `http://127.0.0.1:${port}`;

async function isReady(opsPort: number): Promise<boolean> {
  const response = await fetch(`${local(opsPort)}/ready`).catch(() => null);
  return response?.ok === true;
}

/** A whole exchange with its gateway, one market per partition and two funded test wallets. */
export class ConsoleWorld {
  readonly exchange: ExchangeUnderTest;
  readonly baseUrl: string;
  readonly #gateway: HttpApp;
  readonly #ports: Ports;
  #streams: ChildProcess | null = null;

  private constructor(exchange: ExchangeUnderTest, ports: Ports) {
    this.exchange = exchange;
    this.#ports = ports;
    const [{ port: ingress }] = exchange.ingresses;
    this.#gateway = openGateway({
      ingress: local(ingress),
      'query-api': local(ports.queryApi),
      streams: local(ports.streams),
    });
    this.baseUrl = local(ports.gateway);
  }

  static async open(): Promise<ConsoleWorld> {
    const exchange = await ExchangeUnderTest.open('console', partitions);
    const { services, keys } = exchange;
    services.start('projectors', { PM_VIEWS: 'tables,books', PM_LEDGER_SEED: keys.ledgerSeed });
    const ports = await freePorts();
    services.start('query-api', {
      PM_HTTP_PORT: String(ports.queryApi),
      PM_KEY_SECRET: keys.keySecret,
      PM_BOOK_SECRET: keys.bookSecret,
      PM_CONSOLE_DIR: join(__dirname, '../../../console/dist'),
      ...manyTimes,
    });
    const world = new ConsoleWorld(exchange, ports);
    world.startStreams();
    await world.#gateway.listen({ host: '127.0.0.1', port: ports.gateway });
    await until(() => isReady(ports.streamsOps));
    // Figures, search and balances are read before pages ask for them: until then they are refused with 503.
    for (const path of ['/console/', '/gamma/events', '/public-search?q=entry']) {
      await until(async () => (await fetch(world.baseUrl + path)).ok);
    }
    for (const { address } of testAccounts().slice(0, 2)) {
      await exchange.deposit(address, depositUsdc);
    }
    return world;
  }

  startStreams(): void {
    const { exchange } = this;
    this.#streams = exchange.services.start('streams', {
      PM_HTTP_PORT: String(this.#ports.streams),
      PM_OPS_PORT: String(this.#ports.streamsOps),
      PM_KEY_SECRET: exchange.keys.keySecret,
      PM_BOOK_SECRET: exchange.keys.bookSecret,
      PM_TRUSTED_PROXIES: '127.0.0.1',
      PM_STREAMS_DIR: join(exchange.folder, 'streams'),
      PM_INGRESS_URL: local(exchange.ingresses[0].port),
    });
  }

  async killStreams(): Promise<void> {
    if (this.#streams === null) return;
    const ended = once(this.#streams, 'exit');
    this.#streams.kill('SIGKILL');
    await ended;
  }

  /** A client of the test wallet with this index. */
  async client(index: number): Promise<ExchangeClient> {
    const signer = testAccounts()[index];
    if (signer === undefined) throw new Error('no such test wallet');
    const client = new ExchangeClient({ baseUrl: this.baseUrl, signer });
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    await this.#gateway.close();
    await this.exchange.close();
  }
}
