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
}

/**
 * Distributes `partitionCount` partitions: sizes differ by one at most, as few partitions move as that allows, and
 * the result depends on nothing but the arguments (not on their order). Two members that claim one partition: the
 * newer generation holds it, the other one is a zombie.
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
  fillUp(assignment, partitionCount, (index) => (index < larger ? base + 1 : base));
  return assignment;
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

function sizeOf(kept: ReadonlyMap<string, readonly number[]>, memberId: string): number {
  return kept.get(memberId)?.length ?? 0;
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
