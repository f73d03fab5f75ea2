import type { Admin } from 'kafkajs';
import { GroupCommits } from '../../src/kafka/group-commits.io.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';
import type { Membership } from '../../src/kafka/membership.io.ts';
import type { MemberPlace } from '../../src/kafka/membership-session.ts';
import { createDeferred } from './deferred.ts';

const broken = (type: string) => Object.assign(new Error(type), { type });

/** A coordinator that answers with the given errors first, then takes commits. */
function commitsWith(options: {
  errors?: Error[];
  places?: (MemberPlace | null)[];
  ready?: Promise<void>;
  commitTimeoutMs?: number;
}) {
  const taken: { generation: number; offset: string | undefined }[] = [];
  const found = { times: 0 };
  const errors = [...(options.errors ?? [])];
  const places = [...(options.places ?? [])];
  let place: MemberPlace | null = { memberId: 'm', generation: 1 };
  const coordinator = {
    offsetCommit: async (request: {
      groupGenerationId: number;
      topics: { partitions: { offset: string }[] }[];
    }) => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      taken.push({
        generation: request.groupGenerationId,
        offset: request.topics[0]?.partitions[0]?.offset,
      });
    },
  };
  const membership = {
    coordinator: async () => {
      await options.ready;
      found.times += 1;
      return coordinator;
    },
    place: () => {
      place = places.length > 0 ? (places.shift() ?? null) : place;
      return place;
    },
  };
  const { commitTimeoutMs = defaultLimits.commitTimeoutMs } = options;
  const limits = { ...defaultLimits, initialRetryMs: 1, commitTimeoutMs };
  const commits = new GroupCommits(membership as unknown as Membership, {} as Admin, {
    groupId: 'g',
    topic: 't',
    limits,
  });
  const commit = (stillOwned: () => boolean = () => true) =>
    commits.commit({ partition: 0, offset: 5, metadata: '', stillOwned });
  return { commit, taken, found };
}

test('waits for the generation of a running rebalance, and commits with that one', async () => {
  const { commit, taken } = commitsWith({ places: [null, null, { memberId: 'm', generation: 7 }] });
  await commit();
  expect(taken).toEqual([{ generation: 7, offset: '5' }]);
});

test.each(['ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP'])(
  'tries again after %s, as long as the partition is ours',
  async (type) => {
    const { commit, taken } = commitsWith({ errors: [broken(type), broken(type)] });
    await commit();
    expect(taken).toHaveLength(1);
  },
);

test('does not try again once the partition is gone', async () => {
  const { commit, taken } = commitsWith({ errors: [broken('REBALANCE_IN_PROGRESS')] });
  const answers = [true, true, false];
  await expect(commit(() => answers.shift() ?? false)).rejects.toMatchObject({
    code: 'ownership_lost',
    reaction: 'release',
  });
  expect(taken).toEqual([]);
});

test('a partition lost while the coordinator is looked for is not committed', async () => {
  const ready = createDeferred();
  const { commit, taken } = commitsWith({ ready: ready.promise });
  let owned = true;
  const committing = commit(() => owned);
  owned = false;
  ready.resolve();
  await expect(committing).rejects.toMatchObject({ code: 'ownership_lost' });
  expect(taken).toEqual([]);
});

test('a member the broker does not know has lost its partitions', async () => {
  const { commit } = commitsWith({ errors: [broken('UNKNOWN_MEMBER_ID')] });
  await expect(commit()).rejects.toMatchObject({ code: 'ownership_lost', facts: { partition: 0 } });
});

test('a commit that was given up moves nothing later', async () => {
  const ready = createDeferred();
  const { commit, taken } = commitsWith({ ready: ready.promise, commitTimeoutMs: 60 });
  await expect(commit()).rejects.toMatchObject({
    code: 'commit_outcome_unknown',
    reaction: 'release',
  });
  ready.resolve();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(taken).toEqual([]);
});

test('the coordinator is looked for at the first commit and after a failed one', async () => {
  const { commit, found } = commitsWith({ errors: [broken('NOT_COORDINATOR_FOR_GROUP')] });
  await commit();
  expect(found.times).toBe(2);
  await commit();
  await commit();
  expect(found.times).toBe(2);
});
