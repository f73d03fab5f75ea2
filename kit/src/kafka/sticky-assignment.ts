/** A member of a group with the partitions it owns now. */
export interface MemberClaim {
  readonly memberId: string;
  /** Name seen by the others, e.g. the pod. */
  readonly instance: string;
  /** The process of the member (`processMark`); empty where the platform does not tell. */
  readonly process: string;
  /** Newest group generation that the member knows; -1 before the first. */
  readonly generation: number;
  readonly owned: readonly number[];
  /** Partitions of which it has the second replica; absent when it takes none. */
  readonly standbys?: readonly number[];
}

/**
 * Distributes `partitionCount` partitions: sizes differ by one at most, as few partitions move as that allows, and
 * the result depends on nothing but the arguments (not on their order). Two members that claim one partition: the
 * newer generation holds it, the other one was replaced. A free partition goes to the member that has its second
 * replica, if that has room.
 */
export function assign(
  members: readonly MemberClaim[],
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> {
  const kept = validClaims(members, partitionCount);
  const byNeed = [...kept.keys()].sort((a, b) => sizeOf(kept, b) - sizeOf(kept, a) || order(a, b));
  const base = Math.floor(partitionCount / Math.max(1, members.length));
  const larger = partitionCount - base * members.length;
  const assignment = new Map<string, number[]>();
  byNeed.forEach((memberId, index) => {
    const quota = index < larger ? base + 1 : base;
    assignment.set(memberId, (kept.get(memberId) ?? []).slice(0, quota));
  });
  const quotaOf = (index: number) => (index < larger ? base + 1 : base);
  promote(members, { assignment, partitionCount }, quotaOf);
  fillUp(assignment, partitionCount, quotaOf);
  return assignment;
}

/**
 * A second replica of each partition at another member than `assignment` gives it to, if one takes any. Replicas stay
 * where they are unless a member has more than its share; the result depends on the arguments only, not on their order.
 */
export function assignStandbys(
  members: readonly MemberClaim[],
  assignment: ReadonlyMap<string, readonly number[]>,
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> {
  const takers = members.filter(({ standbys }) => standbys !== undefined).sort(byId);
  const standbys = new Map<string, number[]>(takers.map(({ memberId }) => [memberId, []]));
  const quota = Math.ceil(partitionCount / Math.max(1, takers.length));
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const others = takers.filter(({ memberId }) => !assignment.get(memberId)?.includes(partition));
    const free = others.filter(({ memberId }) => sizeOf(standbys, memberId) < quota);
    const holder = free.find((one) => one.standbys?.includes(partition));
    const least = leastOf(free.length > 0 ? free : others, standbys);
    const chosen = holder ?? least;
    if (chosen !== undefined) standbys.get(chosen.memberId)?.push(partition);
  }
  return standbys;
}

function leastOf(
  members: readonly MemberClaim[],
  standbys: ReadonlyMap<string, readonly number[]>,
): MemberClaim | undefined {
  const sizes = members.map(({ memberId }) => sizeOf(standbys, memberId));
  return members[sizes.indexOf(Math.min(...sizes))];
}

/** Gives free partitions to the members that have their second replicas, as far as these are below their quota. */
function promote(
  members: readonly MemberClaim[],
  given: { readonly assignment: ReadonlyMap<string, number[]>; readonly partitionCount: number },
  quotaOf: (index: number) => number,
): void {
  const { assignment, partitionCount } = given;
  const taken = new Set([...assignment.values()].flat());
  const isFree = (one: number) => one >= 0 && one < partitionCount && !taken.has(one);
  let index = 0;
  for (const [memberId, own] of assignment) {
    const { standbys = [] } = members.find((one) => one.memberId === memberId) ?? {};
    const free = [...new Set(standbys)].sort((a, b) => a - b).filter(isFree);
    for (const partition of free.slice(0, Math.max(0, quotaOf(index) - own.length))) {
      own.push(partition);
      taken.add(partition);
    }
    index += 1;
  }
}

function validClaims(
  members: readonly MemberClaim[],
  partitionCount: number,
): Map<string, number[]> {
  const newestFirst = [...members].sort(
    (a, b) => b.generation - a.generation || order(a.memberId, b.memberId),
  );
  const claimed = new Set<number>();
  const kept = new Map<string, number[]>();
  for (const { memberId, owned } of newestFirst) {
    const own = [...new Set(owned)].filter(
      (one) => one >= 0 && one < partitionCount && !claimed.has(one),
    );
    for (const partition of own) claimed.add(partition);
    kept.set(
      memberId,
      own.sort((a, b) => a - b),
    );
  }
  return kept;
}

/** Gives the free partitions, lowest first, to the members below their quota, in their order. */
function fillUp(
  assignment: Map<string, number[]>,
  partitionCount: number,
  quotaOf: (index: number) => number,
): void {
  const taken = new Set([...assignment.values()].flat());
  const free = Array.from({ length: partitionCount }, (_, partition) => partition).filter(
    (one) => !taken.has(one),
  );
  let index = 0;
  for (const own of assignment.values()) {
    own.push(...free.splice(0, Math.max(0, quotaOf(index) - own.length)));
    own.sort((a, b) => a - b);
    index += 1;
  }
}

function byId(a: MemberClaim, b: MemberClaim): number {
  return order(a.memberId, b.memberId);
}

function sizeOf(kept: ReadonlyMap<string, readonly number[]>, memberId: string): number {
  return kept.get(memberId)?.length ?? 0;
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
