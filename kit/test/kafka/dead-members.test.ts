import { AssignerProtocol, type GroupDescriptions } from 'kafkajs';
import { DeadMembers } from '../../src/kafka/dead-members.io.ts';
import { silentLog } from '../../src/log/index.ts';

const limits = { metadataTimeoutMs: 50 };

interface Member {
  readonly memberId: string;
  /** Mark of its process; null for metadata that cannot be read, as in a group that is not settled. */
  readonly mark: string | null;
}

/** A coordinator whose group settles again after so many looks; it writes down who is taken out. */
function coordinatorOf(members: readonly Member[], states: readonly string[]) {
  const left: string[] = [];
  let looks = 0;
  const describeGroups = async () => {
    const state = states[Math.min(looks, states.length - 1)];
    looks += 1;
    const described = members.map(({ memberId, mark }) => ({
      memberId,
      memberMetadata: mark === null ? Buffer.alloc(0) : metadataOf(mark),
    }));
    return { groups: [{ state, members: described }] } as unknown as GroupDescriptions;
  };
  const leaveGroup = async ({ memberId }: { readonly memberId: string }) => {
    left.push(`${memberId} after ${looks}`);
  };
  return { left, describeGroups, leaveGroup };
}

function metadataOf(process: string): Buffer {
  const claim = { instance: 'one', process, generation: 3, owned: [0] };
  const userData = Buffer.from(JSON.stringify(claim));
  return AssignerProtocol.MemberMetadata.encode({ version: 0, topics: ['t'], userData });
}

function deadMembersOf(coordinator: ReturnType<typeof coordinatorOf> | Error) {
  return new DeadMembers({
    groupId: 'g',
    log: silentLog,
    limits,
    coordinator: async () => {
      if (coordinator instanceof Error) throw coordinator;
      return coordinator;
    },
    hasEnded: (mark) => mark === 'dead',
  });
}

test('removes the members whose process is proved dead, once a join is waiting, and no other', async () => {
  const members = [
    { memberId: 'living', mark: 'living' },
    { memberId: 'first', mark: 'dead' },
    { memberId: 'unmarked', mark: '' },
    { memberId: 'unreadable', mark: null },
    { memberId: 'second', mark: 'dead' },
  ];
  const coordinator = coordinatorOf(members, ['Stable', 'Stable', 'Stable', 'PreparingRebalance']);
  const dead = deadMembersOf(coordinator);
  await dead.find();
  expect(coordinator.left).toEqual([]);
  await dead.evict();
  expect(coordinator.left).toEqual(['first after 4', 'second after 4']);
});

test('asks nothing more of a group without dead members', async () => {
  const coordinator = coordinatorOf([{ memberId: 'living', mark: 'living' }], ['Stable']);
  const dead = deadMembersOf(coordinator);
  await dead.find();
  await dead.evict();
  expect(coordinator.left).toEqual([]);
});

test('a coordinator that fails or is silent does not keep a process from joining', async () => {
  const silent = { ...coordinatorOf([], []), describeGroups: () => new Promise<never>(() => {}) };
  for (const coordinator of [new Error('away'), silent]) {
    const dead = deadMembersOf(coordinator);
    await dead.find();
    await dead.evict();
  }
});

test('removes the others although one has left meanwhile', async () => {
  const members = [
    { memberId: 'gone', mark: 'dead' },
    { memberId: 'here', mark: 'dead' },
  ];
  const coordinator = coordinatorOf(members, ['Stable', 'PreparingRebalance']);
  const leave = coordinator.leaveGroup;
  coordinator.leaveGroup = async (request) => {
    if (request.memberId === 'gone') throw new Error('UNKNOWN_MEMBER_ID');
    await leave(request);
  };
  const dead = deadMembersOf(coordinator);
  await dead.find();
  await dead.evict();
  expect(coordinator.left).toEqual(['here after 2']);
});
