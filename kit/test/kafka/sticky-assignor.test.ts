import fc from 'fast-check';
import { assign, assignStandbys, type MemberClaim } from '../../src/kafka/sticky-assignment.ts';
import { parseClaim, stickyAssignor } from '../../src/kafka/sticky-assignor.io.ts';

const anyPartitions = fc.array(fc.integer({ min: -1, max: 40 }), { maxLength: 40 });
const plainClaim = {
  memberId: fc.string({ minLength: 1, maxLength: 4 }),
  instance: fc.constant(''),
  process: fc.constant(''),
  generation: fc.integer({ min: -1, max: 3 }),
  owned: anyPartitions,
};
const anyClaim: fc.Arbitrary<MemberClaim> = fc.oneof(
  { weight: 1, arbitrary: fc.record(plainClaim) },
  { weight: 3, arbitrary: fc.record({ ...plainClaim, standbys: anyPartitions }) },
);

/** Members with any claims: overlapping, doubled, out of range. Most take second replicas. */
const members = fc.uniqueArray(anyClaim, {
  selector: ({ memberId }) => memberId,
  minLength: 1,
  maxLength: 9,
});

const partitionCounts = fc.integer({ min: 0, max: 36 });

function holdingOf(claims: readonly MemberClaim[], partitionCount: number): Map<number, string> {
  const holding = new Map<number, string>();
  const oldestFirst = [...claims].sort(
    (a, b) => a.generation - b.generation || (a.memberId < b.memberId ? 1 : -1),
  );
  for (const { memberId, owned } of oldestFirst)
    for (const partition of owned)
      if (partition >= 0 && partition < partitionCount) holding.set(partition, memberId);
  return holding;
}

/**
 * The most partitions that any balanced assignment can leave where they are: tries every choice of the larger shares.
 */
function mostThatCanStay(claims: readonly MemberClaim[], partitionCount: number): number {
  const holding = [...holdingOf(claims, partitionCount).values()];
  const sizes = claims.map(
    ({ memberId }) => holding.filter((holder) => holder === memberId).length,
  );
  const base = Math.floor(partitionCount / claims.length);
  const larger = partitionCount % claims.length;
  let best = 0;
  for (let choice = 0; choice < 2 ** claims.length; choice += 1) {
    const chosen = sizes.map((_, index) => Math.floor(choice / 2 ** index) % 2);
    if (chosen.reduce((sum, one) => sum + one, 0) !== larger) continue;
    const stay = sizes.reduce(
      (sum, size, index) => sum + Math.min(size, base + (chosen[index] ?? 0)),
      0,
    );
    best = Math.max(best, stay);
  }
  return best;
}

test('gives every partition to exactly one member, in shares that differ by one at most', () => {
  fc.assert(
    fc.property(members, partitionCounts, (claims, partitionCount) => {
      const assignment = assign(claims, partitionCount);
      const given = [...assignment.values()].flat().sort((a, b) => a - b);
      expect(given).toEqual(Array.from({ length: partitionCount }, (_, partition) => partition));
      const sizes = [...assignment.values()].map((own) => own.length);
      expect(sizes).toHaveLength(claims.length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('moves no partition that could stay', () => {
  fc.assert(
    fc.property(members, partitionCounts, (claims, partitionCount) => {
      const holding = holdingOf(claims, partitionCount);
      let stayed = 0;
      for (const [memberId, own] of assign(claims, partitionCount))
        for (const partition of own) if (holding.get(partition) === memberId) stayed += 1;
      expect(stayed).toBe(mostThatCanStay(claims, partitionCount));
    }),
  );
});

test('does not depend on the order of members or claims, and is its own fixed point', () => {
  fc.assert(
    fc.property(members, partitionCounts, (claims, partitionCount) => {
      const once = assign(claims, partitionCount);
      const turned = [...claims]
        .reverse()
        .map((claim) => ({ ...claim, owned: [...claim.owned].reverse() }));
      expect([...assign(turned, partitionCount)].sort()).toEqual([...once].sort());
      const settled = claims.map((claim) => ({
        ...claim,
        generation: 9,
        owned: once.get(claim.memberId) ?? [],
      }));
      expect([...assign(settled, partitionCount)].sort()).toEqual([...once].sort());
    }),
  );
});

test('a member with an older generation loses what two members claim', () => {
  const zombie = { memberId: 'a', instance: '', process: '', generation: 3, owned: [0, 1] };
  const owner = { memberId: 'b', instance: '', process: '', generation: 4, owned: [0, 1] };
  expect(assign([zombie, owner], 2).get('b')).toEqual([0]);
  expect(assign([zombie, owner], 4).get('b')).toEqual([0, 1]);
});

test('gives each partition a second replica at another member that takes any, in even shares', () => {
  fc.assert(
    fc.property(members, partitionCounts, (claims, partitionCount) => {
      const first = assign(claims, partitionCount);
      const second = assignStandbys(claims, first, partitionCount);
      const takers = claims.filter(({ standbys }) => standbys !== undefined);
      for (let partition = 0; partition < partitionCount; partition += 1) {
        const others = takers.filter(({ memberId }) => !first.get(memberId)?.includes(partition));
        const holders = takers.filter(({ memberId }) => second.get(memberId)?.includes(partition));
        expect(holders.length).toBe(Math.min(1, others.length));
        expect(others).toEqual(expect.arrayContaining(holders));
      }
      const quota = Math.ceil(partitionCount / Math.max(1, takers.length));
      const sizes = takers.map(({ memberId }) => second.get(memberId)?.length ?? 0);
      if (takers.length === claims.length && takers.length === 2)
        expect(Math.max(...sizes)).toBeLessThanOrEqual(quota);
    }),
  );
});

test('second replicas do not depend on the order of members, and stay where they are', () => {
  fc.assert(
    fc.property(members, partitionCounts, (claims, partitionCount) => {
      const first = assign(claims, partitionCount);
      const second = assignStandbys(claims, first, partitionCount);
      const turned = [...claims].reverse();
      expect([...assignStandbys(turned, first, partitionCount)].sort()).toEqual([...second].sort());
      const settled = claims.map((claim) => {
        const standbys = second.get(claim.memberId);
        return standbys === undefined ? claim : { ...claim, standbys };
      });
      const again = assignStandbys(settled, first, partitionCount);
      expect([...again].sort()).toEqual([...second].sort());
    }),
  );
});

test('a partition goes past the members with its second replica only where they got others of theirs', () => {
  fc.assert(
    fc.property(members, partitionCounts, (claims, partitionCount) => {
      const holding = holdingOf(claims, partitionCount);
      const assignment = assign(claims, partitionCount);
      const movedTo = ({ memberId }: MemberClaim) =>
        (assignment.get(memberId) ?? []).filter((one) => holding.get(one) !== memberId);
      const isPassedOver = (partition: number) =>
        claims.some((claim) => movedTo(claim).includes(partition) && !has(claim, partition));
      for (let partition = 0; partition < partitionCount; partition += 1) {
        if (!isPassedOver(partition)) continue;
        for (const claim of claims.filter((one) => has(one, partition)))
          expect(claim.standbys).toEqual(expect.arrayContaining(movedTo(claim)));
      }
    }),
  );
});

function has({ standbys = [] }: MemberClaim, partition: number): boolean {
  return standbys.includes(partition);
}

test('partitions of a member that has left go to who has their second replicas', () => {
  const member = (memberId: string, owned: number[], standbys: number[]) => ({
    memberId,
    instance: '',
    process: '',
    generation: 4,
    owned,
    standbys,
  });
  const left = [member('a', [0, 1, 2], [6, 8]), member('b', [3, 4, 5], [0, 1, 7])];
  const assignment = assign(left, 9);
  expect([...assignment]).toEqual(
    expect.arrayContaining([
      ['a', [0, 1, 2, 6, 8]],
      ['b', [3, 4, 5, 7]],
    ]),
  );
});

test('carries the claims through kafkajs and back', async () => {
  const claim = {
    instance: 'pod-1',
    process: 'boot pid:[1] 7 99',
    generation: 7,
    owned: [2, 5],
    standbys: [3],
  };
  const assignor = stickyAssignor({
    topic: 'orders',
    standbyTopic: 'executions',
    present: () => claim,
    partitionCount: () => 8,
  });
  const { metadata } = assignor.protocol({ topics: ['orders'] });
  expect(parseClaim('m', metadata)).toEqual({ memberId: 'm', ...claim });
  expect(parseClaim('m', Buffer.from('nonsense'))).toEqual({
    memberId: 'm',
    instance: '',
    process: '',
    generation: -1,
    owned: [],
  });
  expect(
    await assignor.assign({
      members: [{ memberId: 'm', memberMetadata: metadata }],
      topics: ['orders'],
    }),
  ).toHaveLength(1);
});
