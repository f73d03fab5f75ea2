import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { askPort } from '@pm/deploy/local/probes';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { until } from '../exchange-under-test.ts';
import { OwnRedis } from './own-redis.ts';

const name = 'pm';

/** Two Redis servers, one the replica of the other, behind one address; and a Sentinel where one is started. */
export class RedisPair {
  readonly #password: string;
  readonly #sockets = new Set<Socket>();
  readonly #clients: RedisClient[] = [];
  readonly #front: Server;
  #primary: OwnRedis;
  #replica: OwnRedis;
  #sentinel: OwnRedis | null = null;

  private constructor(servers: readonly [OwnRedis, OwnRedis], password: string) {
    [this.#primary, this.#replica] = servers;
    this.#password = password;
    this.#front = createServer((socket) => this.#forward(socket));
  }

  static async start(password = 'secret'): Promise<RedisPair> {
    const settings = { requirepass: password, masterauth: password };
    const servers = await Promise.all([OwnRedis.start(settings), OwnRedis.start(settings)]);
    const pair = new RedisPair(servers, password);
    await pair.follow();
    pair.#front.listen(0, '127.0.0.1');
    await once(pair.#front, 'listening');
    return pair;
  }

  /** A client as services have it. Connections to the one address stay with the server that they were made to. */
  open(more: Partial<Parameters<typeof openRedis>[0]> = {}): RedisClient {
    const { port } = this.#front.address() as AddressInfo;
    const url = `redis://127.0.0.1:${port}`;
    const client = openRedis({ url, password: this.#password, log: silentLog, ...more });
    this.#clients.push(client);
    return client;
  }

  /** The reply of the primary to a command. */
  ask(command: string): Promise<string> {
    return this.#ask(this.#primary, command);
  }

  /** Makes the replica follow the primary, and waits until it has all of it. */
  async follow(): Promise<void> {
    const replica = this.#replica;
    await this.#until(replica, `REPLICAOF 127.0.0.1 ${this.#primary.port}`, '+OK');
    await this.#until(replica, 'INFO replication', 'master_link_status:up');
  }

  /** Promotes the replica, which goes on without what it has not got; the former primary does not know of it. */
  async promote(): Promise<void> {
    await this.#until(this.#replica, 'REPLICAOF NO ONE', '+OK');
    this.#swap();
  }

  /** A planned failover: no write is lost, and no connection is closed. */
  async failOver(): Promise<void> {
    await this.#until(this.#primary, 'FAILOVER', '+OK');
    await this.#until(this.#replica, 'INFO replication', 'role:master');
    this.#swap();
  }

  /** Starts a Sentinel that watches both and asks for no account; returns the address of both by it. */
  async startSentinel(): Promise<string> {
    const watched = { name, port: this.#primary.port, password: this.#password };
    this.#sentinel = await OwnRedis.startSentinel(watched);
    const { port } = this.#sentinel;
    await until(async () => (await this.#askSentinel('REPLICAS')).includes('slave'));
    return `redis+sentinel://127.0.0.1:${port}/${name}`;
  }

  /** Has the Sentinel carry out a failover, and waits until it says so. */
  async failOverBySentinel(): Promise<void> {
    await until(async () => (await this.#askSentinel('FAILOVER')).startsWith('+OK'));
    const { port } = this.#replica;
    const isOver = async () =>
      (await this.#askSentinel('GET-MASTER-ADDR-BY-NAME')).includes(`\r\n${port}\r\n`);
    await until(isOver);
    this.#swap();
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    for (const socket of this.#sockets) socket.destroy();
    this.#front.close();
    for (const server of [this.#primary, this.#replica, this.#sentinel]) await server?.stop();
  }

  #swap(): void {
    [this.#primary, this.#replica] = [this.#replica, this.#primary];
  }

  async #ask({ port }: OwnRedis, command: string): Promise<string> {
    const lines = `AUTH ${this.#password}\r\n${command}\r\n`;
    return (await askPort(port, Buffer.from(lines))).toString().replace('+OK\r\n', '');
  }

  /** Empty while it has not started. */
  async #askSentinel(what: string): Promise<string> {
    const question = Buffer.from(`SENTINEL ${what} ${name}\r\n`);
    return await askPort(this.#sentinel?.port ?? 0, question).then(String, () => '');
  }

  /** Repeats a command until the reply has a text; a server may only just have started. */
  #until(server: OwnRedis, command: string, text: string): Promise<void> {
    return until(() =>
      this.#ask(server, command).then(
        (reply) => reply.includes(text),
        () => false,
      ),
    );
  }

  #forward(socket: Socket): void {
    const target = connect(this.#primary.port, '127.0.0.1');
    join(socket, target, this.#sockets);
    join(target, socket, this.#sockets);
  }
}

function join(from: Socket, to: Socket, all: Set<Socket>): void {
  all.add(from);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    all.delete(from);
    to.destroy();
  });
  from.pipe(to);
}
