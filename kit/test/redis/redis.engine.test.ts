import { randomUUID } from 'node:crypto';
import { silentLog } from '../../src/log/index.ts';
import { openRedis, type RedisClient } from '../../src/redis/open.io.ts';
import { defineScript } from '../../src/redis/script.io.ts';
import { engineUrl } from '../engines.ts';

const url = engineUrl('REDIS');
const prefix = `kit-${randomUUID()}`;
let client: RedisClient;

beforeAll(() => {
  client = openRedis({ url, log: silentLog });
});

afterAll(async () => {
  const keys = await client.keys(`${prefix}:*`);
  if (keys.length > 0) await client.del(...keys);
  client.disconnect();
});

const forward = `
local known = tonumber(redis.call('HGET', KEYS[1], 'version') or '-1')
if tonumber(ARGV[1]) <= known then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'value', ARGV[2])
return 1`;

describe('redis', () => {
  test('keeps text and bytes', async () => {
    await client.set(`${prefix}:bytes`, Buffer.from([0, 255, 10]));
    expect(await client.getBuffer(`${prefix}:bytes`)).toEqual(Buffer.from([0, 255, 10]));
  });

  test('runs a script by its hash, also after the server forgot it', async () => {
    const script = defineScript<number>(client, 'forward', forward, 1);
    const key = `${prefix}:book`;
    expect(await script.run([key], [5, 'five'])).toBe(1);
    expect(await script.run([key], [4, 'four'])).toBe(0);
    await client.script('FLUSH');
    expect(await script.run([key], [6, Buffer.from('six')])).toBe(1);
    expect(await client.hgetall(key)).toEqual({ version: '6', value: 'six' });
  });

  test('runs a loaded script in a pipeline', async () => {
    const script = defineScript<number>(client, 'forward', forward, 1);
    await script.load();
    const key = `${prefix}:piped`;
    const pipeline = client.pipeline();
    for (const version of [1, 3, 2]) pipeline.evalsha(script.sha, 1, key, version, 'x');
    expect(await pipeline.exec()).toEqual([
      [null, 1],
      [null, 1],
      [null, 0],
    ]);
  });

  test('takes the number of keys seriously', async () => {
    const script = defineScript<number>(client, 'forward', forward, 1);
    await expect(script.run([], [1, 'x'])).rejects.toMatchObject({ code: 'broken_assumption' });
  });

  test('makes a fault of a refused command, alone and in a pipeline', async () => {
    await client.set(`${prefix}:text`, 'x');
    const refused = { code: 'redis_refused', reaction: 'stop', facts: { reply: 'WRONGTYPE' } };
    await expect(client.hgetall(`${prefix}:text`)).rejects.toMatchObject(refused);
    const pairs = await client.pipeline().hgetall(`${prefix}:text`).get(`${prefix}:text`).exec();
    expect(pairs?.[0]?.[0]).toMatchObject(refused);
    expect(pairs?.[1]).toEqual([null, 'x']);
  });

  test('comes back by itself after its connection broke', async () => {
    const killer = openRedis({ url, log: silentLog });
    const id = await client.client('ID');
    await killer.client('KILL', 'ID', id);
    killer.disconnect();
    await client.set(`${prefix}:after`, 'back');
    expect(await client.get(`${prefix}:after`)).toBe('back');
    expect(await client.client('ID')).not.toBe(id);
  });
});
