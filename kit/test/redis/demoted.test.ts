import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { silentLog } from '../../src/log/index.ts';
import { openRedis, type RedisClient } from '../../src/redis/open.io.ts';

/** A server as far as a client asks for it while it connects; what it answers to a SET is up to the test. */
class PlainServer {
  role = 'master';
  answerToSet: string | null = '+OK';
  /** Connections that were made, and SETs that came. */
  connections = 0;
  sets = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer((socket) => this.#serve(socket));
  #client: RedisClient | null = null;

  async open(): Promise<RedisClient> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.#server.address() as AddressInfo;
    this.#client = openRedis({ url: `redis://127.0.0.1:${port}`, log: silentLog });
    await once(this.#client, 'ready');
    return this.#client;
  }

  async close(): Promise<void> {
    this.#client?.disconnect();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      for (const [name] of bytes.toString().matchAll(/HELLO|INFO|SET/gi))
        this.#answer(socket, name);
    });
  }

  #answer(socket: Socket, name: string): void {
    const info = `role:${this.role}`;
    const command = name.toUpperCase();
    if (command === 'HELLO') socket.write('%0\r\n');
    else if (command === 'INFO' && this.answerToSet !== null)
      socket.write(`$${info.length}\r\n${info}\r\n`);
    else if (command === 'SET') this.#answerSet(socket);
  }

  #answerSet(socket: Socket): void {
    this.sets += 1;
    if (this.answerToSet !== null) socket.write(`${this.answerToSet}\r\n`);
  }
}

let server: PlainServer;

beforeEach(() => {
  server = new PlainServer();
});

afterEach(() => server.close());

/** The next end of a connection; `once` of Node would reject for its error. */
function closed(client: RedisClient): Promise<void> {
  return new Promise((resolve) => client.once('close', resolve));
}

test.each([
  "-READONLY You can't write against a read only replica.",
  "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
])(
  'commands answered "%s" are sent again to the primary, over one new connection',
  async (answer) => {
    const client = await server.open();
    const left = jest.spyOn(client, 'disconnect');
    server.answerToSet = answer;
    const written = Array.from({ length: 50 }, (_, at) => client.set('a', at));
    await closed(client);
    server.answerToSet = '+OK';
    expect(new Set(await Promise.all(written))).toEqual(new Set(['OK']));
    expect(server.connections).toBe(2);
    expect(left).toHaveBeenCalledTimes(1);
  },
);

test('a server that is still no primary gets no command, and its refusal is not waited for without end', async () => {
  const client = await server.open();
  server.role = 'slave';
  server.answerToSet = "-READONLY You can't write against a read only replica.";
  const failed = { code: 'redis_unavailable', reaction: 'retry' };
  await expect(client.set('a', 1)).rejects.toMatchObject(failed);
  expect(server.sets).toBe(1);
  expect(server.connections).toBeGreaterThan(2);
});

test('a server that has become silent is left', async () => {
  const client = await server.open();
  server.answerToSet = null;
  const unanswered = client.set('a', 1);
  await Promise.all([closed(client), Promise.allSettled([unanswered])]);
  server.answerToSet = '+OK';
  expect(await client.set('a', 2)).toBe('OK');
  expect(server.connections).toBe(2);
});
