import type { Cluster } from './cluster.ts';
import type { Machine } from './machine.ts';

/** An answer to a member; it may come much later. */
export type GroupReply<T> = (result: T) => void;

export interface JoinResult {
  readonly error: number;
  readonly generation: number;
  readonly protocol: string;
  readonly leader: string;
  readonly memberId: string;
  readonly members: readonly { readonly memberId: string; readonly metadata: Buffer }[];
}

export interface SyncResult {
  readonly error: number;
  readonly assignment: Buffer;
}

export interface JoinRequest {
  readonly machine: Machine;
  readonly memberId: string;
  readonly sessionMs: number;
  readonly rebalanceMs: number;
  readonly protocol: string;
  readonly metadata: Buffer;
}

interface Member {
  readonly memberId: string;
  readonly machine: Machine;
  readonly sessionMs: number;
  rebalanceMs: number;
  metadata: Buffer;
  assignment: Buffer;
  heardMs: number;
  join: GroupReply<JoinResult> | null;
  sync: GroupReply<SyncResult> | null;
}

export const groupErrors = {
  loading: 14,
  notAvailable: 15,
  notCoordinator: 16,
  illegalGeneration: 22,
  unknownMember: 25,
  rebalancing: 27,
} as const;

const nothing = Buffer.alloc(0);

export interface GroupEvents {
  /** A member was not heard for its session; `settledMs`: since when the group has had no rebalance. */
  expired(memberId: string, machine: Machine, settledMs: number): void;
}

/** The state of a group at its coordinator (Kafka's state machine of classic groups). */
export class GroupModel {
  readonly #cluster: Cluster;
  readonly #events: GroupEvents;
  readonly members = new Map<string, Member>();
  readonly commits = new Map<number, { offset: number; metadata: string }>();
  state: 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable' = 'Empty';
  #generation = 0;
  /** The group as of its newest assignment, which the log has. */
  #stored: { readonly generation: number; readonly members: readonly Member[] } = {
    generation: 0,
    members: [],
  };
  #round = 0;
  #protocol = '';
  #leader = '';
  #memberIds = 0;
  #loadedMs = 0;
  #settledMs = Number.POSITIVE_INFINITY;

  constructor(cluster: Cluster, events: GroupEvents) {
    this.#cluster = cluster;
    this.#events = events;
  }

  /**
   * Another broker coordinates: it loads the newest assignment, also of members that left since, and sessions begin
   * again.
   */
  moved(): void {
    const { scheduler } = this.#cluster;
    this.#loadedMs = scheduler.nowMs + 20 + scheduler.random.below(600);
    this.#round += 1;
    this.members.clear();
    const { generation, members } = this.#stored;
    this.#generation = generation;
    for (const member of members) {
      // The former coordinator answers nobody any more.
      this.members.set(member.memberId, { ...member, join: null, sync: null });
    }
    for (const member of this.members.values()) this.#heard(member, this.#loadedMs);
    this.state = this.members.size === 0 ? 'Empty' : 'Stable';
    this.#settledMs = this.#loadedMs;
    if (!this.members.has(this.#leader)) this.#leader = [...this.members.keys()][0] ?? '';
  }

  get isLoading(): boolean {
    return this.#cluster.scheduler.nowMs < this.#loadedMs;
  }

  join(request: JoinRequest, reply: GroupReply<JoinResult>): void {
    const { memberId, machine, sessionMs, rebalanceMs, metadata, protocol } = request;
    const known = this.members.get(memberId);
    if (memberId !== '' && known === undefined) {
      reply(refusedJoin(groupErrors.unknownMember, memberId));
      return;
    }
    this.#memberIds += 1;
    const id = known?.memberId ?? `${machine.name}-m${this.#memberIds}`;
    const { nowMs } = this.#cluster.scheduler;
    const member: Member = known ?? {
      memberId: id,
      machine,
      sessionMs,
      rebalanceMs,
      metadata,
      assignment: nothing,
      heardMs: nowMs,
      join: null,
      sync: null,
    };
    this.members.set(id, member);
    Object.assign(member, { rebalanceMs, metadata });
    this.#protocol = protocol;
    member.join?.(refusedJoin(groupErrors.rebalancing, id));
    member.join = reply;
    this.#heard(member);
    if (this.state !== 'PreparingRebalance') this.#prepare();
    this.#completeIfAll();
  }

  sync(
    memberId: string,
    generation: number,
    assignments: readonly { readonly memberId: string; readonly assignment: Buffer }[],
    reply: GroupReply<SyncResult>,
  ): void {
    const member = this.members.get(memberId);
    if (member === undefined) reply({ error: groupErrors.unknownMember, assignment: nothing });
    else if (generation !== this.#generation)
      reply({ error: groupErrors.illegalGeneration, assignment: nothing });
    else if (this.state === 'PreparingRebalance')
      reply({ error: groupErrors.rebalancing, assignment: nothing });
    else if (this.state === 'Stable') reply({ error: 0, assignment: member.assignment });
    else {
      member.sync = reply;
      this.#heard(member);
      if (memberId !== this.#leader) return;
      for (const one of assignments) {
        const known = this.members.get(one.memberId);
        if (known !== undefined) known.assignment = one.assignment;
      }
      this.state = 'Stable';
      this.#settledMs = this.#cluster.scheduler.nowMs;
      this.#stored = { generation, members: [...this.members.values()].map((one) => ({ ...one })) };
      for (const one of this.members.values()) {
        one.sync?.({ error: 0, assignment: one.assignment });
        one.sync = null;
        this.#heard(one);
      }
    }
  }

  heartbeat(memberId: string, generation: number): number {
    const member = this.members.get(memberId);
    if (member === undefined) return groupErrors.unknownMember;
    if (generation !== this.#generation) return groupErrors.illegalGeneration;
    this.#heard(member);
    return this.state === 'PreparingRebalance' ? groupErrors.rebalancing : 0;
  }

  leave(memberId: string): number {
    const member = this.members.get(memberId);
    if (member === undefined) return groupErrors.unknownMember;
    this.#remove(member);
    return 0;
  }

  commit(memberId: string, generation: number): number {
    const member = this.members.get(memberId);
    if (member === undefined) return groupErrors.unknownMember;
    if (generation !== this.#generation) return groupErrors.illegalGeneration;
    if (this.state === 'CompletingRebalance') return groupErrors.rebalancing;
    this.#heard(member);
    return 0;
  }

  #heard(member: Member, atMs = this.#cluster.scheduler.nowMs): void {
    const { scheduler, nodes } = this.#cluster;
    member.heardMs = atMs;
    const coordinator = nodes[this.#cluster.coordinator - 1];
    scheduler.after(atMs - scheduler.nowMs + member.sessionMs, null, () =>
      coordinator?.act(() => {
        if (coordinator.id !== this.#cluster.coordinator || member.heardMs > atMs) return;
        if (this.members.get(member.memberId) !== member || member.join !== null) return;
        this.#events.expired(member.memberId, member.machine, this.#settledMs);
        this.#remove(member);
      }),
    );
  }

  #remove(member: Member): void {
    this.members.delete(member.memberId);
    member.join?.(refusedJoin(groupErrors.unknownMember, member.memberId));
    if (this.members.size === 0) {
      this.state = 'Empty';
      this.#round += 1;
    } else if (this.state !== 'PreparingRebalance') this.#prepare();
    else this.#completeIfAll();
  }

  /** Members have so long to join again. */
  #prepare(): void {
    for (const member of this.members.values()) {
      member.sync?.({ error: groupErrors.rebalancing, assignment: nothing });
      member.sync = null;
    }
    this.state = 'PreparingRebalance';
    this.#settledMs = Number.POSITIVE_INFINITY;
    this.#round += 1;
    const round = this.#round;
    const longestMs = Math.max(...[...this.members.values()].map((one) => one.rebalanceMs));
    this.#cluster.scheduler.after(longestMs, null, () => {
      if (this.#round === round && this.state === 'PreparingRebalance') this.#complete();
    });
  }

  #completeIfAll(): void {
    const all = [...this.members.values()];
    if (all.length > 0 && all.every(({ join }) => join !== null)) this.#complete();
  }

  #complete(): void {
    for (const member of [...this.members.values()])
      if (member.join === null) this.members.delete(member.memberId);
    const all = [...this.members.values()];
    this.#round += 1;
    if (all.length === 0) {
      this.state = 'Empty';
      return;
    }
    this.#generation += 1;
    this.state = 'CompletingRebalance';
    if (!this.members.has(this.#leader)) this.#leader = all[0]?.memberId ?? '';
    for (const member of all) {
      const isLeader = member.memberId === this.#leader;
      const reply = member.join;
      member.join = null;
      member.assignment = nothing;
      this.#heard(member);
      reply?.({
        error: 0,
        generation: this.#generation,
        protocol: this.#protocol,
        leader: this.#leader,
        memberId: member.memberId,
        members: isLeader ? all.map(({ memberId, metadata }) => ({ memberId, metadata })) : [],
      });
    }
  }
}

export function refusedJoin(error: number, memberId: string): JoinResult {
  return { error, generation: -1, protocol: '', leader: '', memberId, members: [] };
}
