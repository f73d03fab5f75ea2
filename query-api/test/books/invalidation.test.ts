import { EventEmitter } from 'node:events';
import { silentLog } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import { followInvalidations } from '../../src/books/invalidation.io.ts';

/** A connection that answers everything, and closes when it is to connect again. */
class Connection extends EventEmitter {
  status = 'ready';
  client = async () => 1;
  call = async () => 'OK';
  subscribe = async () => 1;
  ping = async () => 'PONG';
  disconnect = () => void this.emit('close');
}

test('invalidations of a server count no more once reads may go to another one', async () => {
  const listener = new Connection();
  const reads = Object.assign(new Connection(), { duplicate: () => listener });
  const states: boolean[] = [];
  const followed = followInvalidations({
    redis: reads as unknown as RedisClient,
    prefix: 'pm:book:',
    log: silentLog,
    onInvalidate: () => {},
    onCoherent: (isCoherent) => states.push(isCoherent),
  });
  try {
    listener.emit('ready');
    await new Promise(setImmediate);
    reads.emit('close');
    expect(states).toEqual([true, false]);
  } finally {
    followed.close();
  }
});
