import { openKafkajs } from '../../src/kafka/kafkajs-connection.io.ts';
import { defaultLimits, type LogClientLimits } from '../../src/kafka/limits.ts';
import { Membership, type MembershipOptions } from '../../src/kafka/membership.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { until } from './deferred.ts';
import { GroupCoordinator } from './group-coordinator.ts';

jest.setTimeout(60_000);

// Whatever kafkajs relies on is real here: its consumer, its connections, its timers.
const sessionMs = 6_000;
const heartbeatMs = 10;
/** Time limit of a look for the coordinator. */
const lookMs = 250;
const hourMs = 3_600_000;
/** Answers of brokers: one that passes, and one that kafkajs does not try again. */
const coordinatorLoading = 15;
const refused = 30;

let group: GroupCoordinator;
let members: Membership[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  aheadMs = 0;
  group.release();
  await Promise.all(members.map((member) => member.close()));
  members = [];
  await group.close();
});

/** How far monotonic time is ahead of this machine's. */
let aheadMs = 0;

function memberOf(
  limits: Partial<LogClientLimits> = {},
  options: Partial<MembershipOptions> = {},
  brokers: readonly string[] = group.addresses,
): { readonly member: Membership; readonly events: string[] } {
  const events: string[] = [];
  const all = { ...defaultLimits, heartbeatMs, ...limits };
  const kafka = openKafkajs({ brokers, clientId: 'test', log: silentLog }, all);
  const member = new Membership(
    { kafka, limits: all, log: silentLog, monotonicMs: () => performance.now() + aheadMs },
    {
      groupId: 'g',
      topic: 't',
      instance: 'i',
      sessionTimeoutMs: sessionMs,
      placed: () => ({ partitions: [], standbys: [] }),
      onJoined: ({ partitions }) => events.push(`joined ${partitions}`),
      onLost: () => events.push('lost'),
      onFault: (fault) => events.push(fault.code),
      ...options,
    },
  );
  members.push(member);
  return { member, events };
}

/** So many more heartbeats of a member arrive. */
async function beats(member: string, count: number): Promise<void> {
  const before = group.beatsOf(member);
  await until(() => group.beatsOf(member) >= before + count, `${member} sends heartbeats`);
}

test('a member joins although the broker at its first address answers nothing', async () => {
  group = await GroupCoordinator.open(2);
  group.standStill(2);
  const [sound = '', silent = ''] = group.addresses;
  const short = { connectTimeoutMs: 200, requestTimeoutMs: 200 };
  const { member } = memberOf(short, {}, [silent, sound]);
  await member.start();
  expect(member.alive()).toBe(true);
});

test('a member joins although all brokers but its coordinator stand still', async () => {
  group = await GroupCoordinator.open(3);
  group.standStill(2);
  group.standStill(3);
  const limits = { requestTimeoutMs: 60_000, closeTimeoutMs: 100 };
  // kafkajs asks brokers in a random order.
  for (let times = 0; times < 4; times += 1) {
    const { member } = memberOf(limits, {}, group.addresses.slice(0, 1));
    await member.start();
    expect(member.alive()).toBe(true);
    await member.close();
  }
});

test('a join whose last answer took a session is of a member that may be out again', async () => {
  group = await GroupCoordinator.open(1);
  group.held.add('sync');
  const wasAlive: boolean[] = [];
  const sessionTimeoutMs = 1_000;
  const onJoined = () => wasAlive.push(member.alive());
  const { member } = memberOf({ rebalanceTimeoutMs: 50_000 }, { sessionTimeoutMs, onJoined });
  const starting = member.start();
  await until(() => group.askedFor('sync') === 1, 'it joins');
  aheadMs = sessionTimeoutMs;
  group.release();
  await starting;
  await until(() => member.alive(), 'it is heard');
  expect(wasAlive[0]).toBe(false);
});

test.each([
  ['back', -hourMs],
  ['forth', hourMs],
])('a wall clock that is set %s by an hour costs no session', async (_, stepMs) => {
  group = await GroupCoordinator.open(1);
  const { member, events } = memberOf();
  await member.start();
  await beats('member-1', 3);
  const real = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => real() + stepMs);
  await beats('member-1', 20);
  expect([member.alive(), events]).toEqual([true, ['joined 0']]);
});

test('heartbeats wait neither for metadata nor for offsets, also when all other brokers stand still', async () => {
  group = await GroupCoordinator.open(3);
  const { member, events } = memberOf({ metadataMaxAgeMs: heartbeatMs });
  await member.start();
  const before = ['metadata', 'listOffsets'] as const;
  const asked = () => before.map((name) => group.askedFor(name));
  const askedBefore = asked();
  group.standStill(2);
  group.standStill(3);
  await beats('member-1', 20);
  expect(asked()).toEqual(askedBefore);
  expect(group.askedFor('listOffsets')).toBe(0);
  expect(events).toEqual(['joined 0']);
});

test('an added partition is assigned without a loss of the others', async () => {
  group = await GroupCoordinator.open(1);
  const hasPartition = async (partition: number) => partition < group.partitions;
  const { member, events } = memberOf({ metadataMaxAgeMs: 50 }, { hasPartition });
  await member.start();
  await beats('member-1', 3);
  group.partitions = 2;
  await until(() => events.includes('joined 0,1'), 'it has both');
  expect(events).not.toContain('lost');
});

test('a crash while the coordinator is looked for ends in one member, the one that is read', async () => {
  group = await GroupCoordinator.open(2);
  const { member, events } = memberOf({ metadataTimeoutMs: lookMs }, { sessionTimeoutMs: 1_500 });
  await member.start();
  await beats('member-1', 20);
  // Heartbeats are not answered, and looks find no coordinator yet.
  group.held.add('heartbeat');
  group.findError = coordinatorLoading;
  const looks = group.askedFor('findCoordinator');
  await until(() => group.askedFor('findCoordinator') > looks, 'it is looked for');
  group.heartbeatError = refused;
  group.release();
  await until(() => events.includes('lost'), 'it has crashed');
  group.heartbeatError = 0;
  // The look finds another coordinator while the next consumer already joins there.
  group.held.add('join');
  group.coordinator = 2;
  group.findError = 0;
  await until(() => group.askedFor('join') > 1, 'it joins again');
  await new Promise((resolve) => setTimeout(resolve, lookMs));
  group.release();
  await until(() => events.at(-1) === 'joined 0', 'it has joined again');
  await beats(`member-${group.members}`, 40);
  group.beats.clear();
  await beats(`member-${group.members}`, 20);
  expect([...group.beats.keys()]).toEqual([member.memberId]);
});

test('a member that is closed while it joins leaves once it has joined', async () => {
  group = await GroupCoordinator.open(1);
  group.held.add('join');
  const { member } = memberOf();
  const starting = expect(member.start()).rejects.toThrow('group_unreachable');
  await until(() => group.askedFor('join') === 1, 'it joins');
  const closing = member.close();
  group.release();
  await Promise.all([closing, starting]);
  expect([group.joined, group.left]).toEqual([['member-1'], ['member-1']]);
});

test('a join that is not answered in time is cut off with the closing of its member', async () => {
  group = await GroupCoordinator.open(1);
  group.held.add('join');
  const { member, events } = memberOf(
    { rebalanceTimeoutMs: 200, closeTimeoutMs: 100 },
    { sessionTimeoutMs: 200 },
  );
  await expect(member.start()).rejects.toThrow('group_unreachable');
  await until(() => group.connections === 0, 'its connections are gone');
  group.release();
  expect([events, group.beats.size]).toEqual([[], 0]);
});
