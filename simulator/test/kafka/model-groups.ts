import { Fault } from '@pm/kit/fault';
import type { Scheduler } from '../../../kit/test/time/scheduler.ts';
import type { Defects } from '../defects.ts';
import type { Answer, Machine } from '../time/machine.ts';

/** A position as a group keeps it. */
export interface Committed {
  readonly offset: number;
  readonly metadata: string;
}

/** A member as the coordinator sees it. */
export interface Member {
  readonly id: number;
  readonly machine: Machine;
  /** Whether it takes second replicas. */
  readonly takesStandbys: boolean;
  /** Its partitions from now on, and those of which it has the second replica. */
  assigned(partitions: readonly number[], standbys: readonly number[]): void;
  /** It is no member any more. */
  evicted(): void;
}

interface Group {
  readonly partitions: number;
  readonly members: Map<number, Member>;
  /** Member by partition. */
  readonly owners: Map<number, number>;
  readonly standbys: Map<number, number>;
  readonly commits: Map<number, Committed>;
  /** When each member was heard last. */
  readonly heardMs: Map<number, number>;
  rebalanceAtMs: number;
}

const sessionMs = 6_000;
const checkMs = 250;
const rebalanceMs = 400;
/** A member that works on without its membership learns of it within this time after it is heard again. */
const noticeMaxMs = 3_000;

/** The coordinator of all consumer groups: who is heard is a member, and partitions stay where they are if they can. */
export class ModelGroups {
  readonly #scheduler: Scheduler;
  readonly #defects: Defects;
  readonly #groups = new Map<string, Group>();
  #memberIds = 0;
  /** Members that worked on after others had got their partitions. */
  zombies = 0;
  #isChecking = false;

  constructor(scheduler: Scheduler, defects: Defects) {
    this.#scheduler = scheduler;
    this.#defects = defects;
  }

  nextMemberId(): number {
    this.#memberIds += 1;
    return this.#memberIds;
  }

  join(groupId: string, partitions: number, member: Member): void {
    const group = this.#groups.get(groupId) ?? newGroup(partitions);
    this.#groups.set(groupId, group);
    group.members.set(member.id, member);
    group.heardMs.set(member.id, this.#scheduler.nowMs);
    this.#rebalanceSoon(group);
    if (!this.#isChecking) this.#checkLater();
  }

  leave(groupId: string, id: number): void {
    const group = this.#groups.get(groupId);
    if (group?.members.delete(id) === true) this.#rebalanceSoon(group);
  }

  commit(
    groupId: string,
    { member, partition, ...committed }: Committed & { member: number; partition: number },
    answer: Answer<void>,
  ): void {
    const group = this.#groups.get(groupId);
    const isOwner = group?.owners.get(partition) === member;
    const isAnyone = this.#defects.has('a former owner may commit');
    if (group === undefined || (!isOwner && !isAnyone)) {
      answer.reject(new Fault('ownership_lost', 'release', { facts: { partition } }));
      return;
    }
    const isForgetful = this.#defects.has('the range of a batch is not remembered');
    group.commits.set(partition, isForgetful ? { ...committed, metadata: '' } : committed);
    answer.resolve();
  }

  committed(groupId: string, partition: number): Committed | null {
    return this.#groups.get(groupId)?.commits.get(partition) ?? null;
  }

  #checkLater(): void {
    this.#isChecking = true;
    this.#scheduler.after(checkMs, null, () => {
      for (const group of this.#groups.values()) this.#check(group);
      this.#checkLater();
    });
  }

  #check(group: Group): void {
    const { nowMs } = this.#scheduler;
    for (const [id, member] of group.members) {
      if (member.machine.isHeard) group.heardMs.set(id, nowMs);
      else if (nowMs - (group.heardMs.get(id) ?? 0) > sessionMs) this.#evict(group, member);
    }
    if (nowMs >= group.rebalanceAtMs) this.#rebalance(group);
  }

  #evict(group: Group, member: Member): void {
    group.members.delete(member.id);
    this.#rebalanceSoon(group);
    const { machine } = member;
    if (!machine.isAlive) return;
    this.zombies += 1;
    const { nowMs, random } = this.#scheduler;
    const unheardMs = Math.max(machine.pausedUntilMs, machine.unheardUntilMs) - nowMs;
    machine.enter(() => member.evicted(), Math.max(0, unheardMs) + random.below(noticeMaxMs));
  }

  #rebalanceSoon(group: Group): void {
    const { nowMs } = this.#scheduler;
    group.rebalanceAtMs = Math.min(group.rebalanceAtMs, nowMs + rebalanceMs);
  }

  #rebalance(group: Group): void {
    group.rebalanceAtMs = Number.POSITIVE_INFINITY;
    const ids = [...group.members.keys()];
    if (ids.length === 0) return;
    const most = Math.ceil(group.partitions / ids.length);
    const counts = new Map(ids.map((id) => [id, 0]));
    const free: number[] = [];
    for (let partition = 0; partition < group.partitions; partition += 1) {
      const owner = group.owners.get(partition) ?? -1;
      const count = counts.get(owner);
      if (count !== undefined && count < most) counts.set(owner, count + 1);
      else free.push(partition);
    }
    for (const partition of free) {
      const [least = -1] = [...ids].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0));
      counts.set(least, (counts.get(least) ?? 0) + 1);
      group.owners.set(partition, least);
    }
    placeStandbys(group);
    for (const [id, member] of group.members) {
      const [owned, standbys] = [group.owners, group.standbys].map((places) =>
        [...places].flatMap(([partition, holder]) => (holder === id ? [partition] : [])),
      );
      const assigned = () => member.assigned(owned ?? [], standbys ?? []);
      member.machine.enter(assigned, this.#scheduler.random.below(50));
    }
  }
}

/** A second replica of each partition at another member, where it is if it can be. */
function placeStandbys({ partitions, members, owners, standbys }: Group): void {
  const takers = [...members.values()].filter(({ takesStandbys }) => takesStandbys);
  const counts = new Map(takers.map(({ id }) => [id, 0]));
  for (let partition = 0; partition < partitions; partition += 1) {
    const others = takers.filter(({ id }) => id !== owners.get(partition));
    const byCount = [...others].sort((a, b) => (counts.get(a.id) ?? 0) - (counts.get(b.id) ?? 0));
    const holder = others.find(({ id }) => id === standbys.get(partition)) ?? byCount[0];
    standbys.delete(partition);
    if (holder === undefined) continue;
    standbys.set(partition, holder.id);
    counts.set(holder.id, (counts.get(holder.id) ?? 0) + 1);
  }
}

function newGroup(partitions: number): Group {
  return {
    partitions,
    members: new Map(),
    owners: new Map(),
    standbys: new Map(),
    commits: new Map(),
    heardMs: new Map(),
    rebalanceAtMs: Number.POSITIVE_INFINITY,
  };
}
