import type { LogAdmin } from '@pm/kit/kafka';
import { requireDurable } from '../src/durability.io.ts';

const durable: TopicDurability = { copies: 3, minInSync: 2, electsUnclean: false };
type TopicDurability = Awaited<ReturnType<LogAdmin['durability']>>;

function check(found: Partial<TopicDurability>, replicationMin: number): Promise<void> {
  const admin = { durability: async () => ({ ...durable, ...found }) };
  return requireDurable(admin, 'orders', replicationMin);
}

test.each([
  ['three copies, two in sync', {}, 3],
  ['five copies, two in sync', { copies: 5 }, 3],
  ['one copy where that is configured', { copies: 1, minInSync: 1 }, 1],
  ['two copies where that is configured', { copies: 2, minInSync: 1 }, 2],
  ['settings that brokers may leave out', { minInSync: null, electsUnclean: null }, 3],
])('starts with %s', async (_, found, replicationMin) => {
  await expect(check(found, replicationMin)).resolves.toBeUndefined();
});

test.each([
  ['two copies', { copies: 2 }, 3],
  ['one copy in sync', { minInSync: 1 }, 3],
  ['two copies and settings that are left out', { copies: 2, minInSync: null }, 3],
  ['leaders that may lack records', { electsUnclean: true }, 3],
  ['leaders that may lack records, on one broker', { copies: 1, electsUnclean: true }, 1],
])('does not start with %s', async (_, found, replicationMin) => {
  await expect(check(found, replicationMin)).rejects.toMatchObject({
    code: 'replication_low',
    reaction: 'stop',
    facts: { topic: 'orders', replicationMin },
  });
});
