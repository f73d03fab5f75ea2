import { createServer, type Server, type Socket } from 'node:net';
import { Fault } from '../../src/fault/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { redisFault } from '../../src/redis/faults.ts';
import { openRedis } from '../../src/redis/open.io.ts';

function replyError(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

/** As servers before 7.0 say it. */
const scriptRefused =
  'ERR Error running script (call to f_7389571d7572e01e0dd01f1392fb2b813e89e061): @user_script:1: @user_script: 1:';

describe('a failed command', () => {
  test.each([
    ['LOADING Redis is loading the dataset in memory', 'LOADING', 'retry'],
    ['OOM command not allowed', 'OOM', 'retry'],
    ["READONLY You can't write against a read only replica.", 'READONLY', 'retry'],
    ['NOSCRIPT No matching script.', 'NOSCRIPT', 'retry'],
    ['WRONGTYPE Operation against a key', 'WRONGTYPE', 'stop'],
    ["NOPERM User u has no permissions to access the 'book:17' key", 'NOPERM', 'stop'],
    ["ERR unknown command 'x'", 'ERR', 'stop'],
    ['user_script:1: my own words', 'ERR', 'stop'],
    [
      `${scriptRefused} -READONLY You can't write against a read only replica.`,
      'READONLY',
      'retry',
    ],
    [`${scriptRefused} -OOM command not allowed`, 'OOM', 'retry'],
    [`${scriptRefused} my own words`, 'ERR', 'stop'],
  ])('answered with "%s" is %s: %s', (message, reply, reaction) => {
    const fault = redisFault(replyError(message));
    expect(fault).toMatchObject({ code: 'redis_refused', reaction, facts: { reply } });
    expect(fault.message).not.toContain('book:17');
  });

  test('without an answer is to be tried again', () => {
    const expected = { code: 'redis_unavailable', reaction: 'retry' };
    expect(redisFault(new Error('Connection is closed.'))).toMatchObject(expected);
    expect(redisFault('?')).toMatchObject(expected);
  });

  test('that is a fault already stays as it is', () => {
    const fault = new Fault('x', 'skip');
    expect(redisFault(fault)).toBe(fault);
  });
});

describe('a client of a server that never answers', () => {
  let server: Server;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const open = () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const url = `redis://127.0.0.1:${port}`;
    return openRedis({ url, log: silentLog, commandTimeoutMs: 200 });
  };

  test('gives each command up in time, with a fault to retry', async () => {
    const client = open();
    const failed = { code: 'redis_unavailable', reaction: 'retry' };
    await expect(client.get('a')).rejects.toMatchObject(failed);
    const pairs = await client.pipeline().get('a').set('b', '1').exec();
    expect(pairs?.map(([error]) => error)).toEqual([
      expect.objectContaining(failed),
      expect.objectContaining(failed),
    ]);
    client.disconnect();
  });

  test('lets at most 10,000 commands wait', async () => {
    const client = open();
    const waiting = Array.from({ length: 10_000 }, () => client.get('a').catch(() => 'late'));
    await expect(client.get('a')).rejects.toMatchObject({ facts: { waiting: 10_000 } });
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['late']));
    await expect(client.get('a')).rejects.toMatchObject({ facts: {} });
    client.disconnect();
  });
});
