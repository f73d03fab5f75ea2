/** A member's place in one generation of its group; a commit carries both, and the broker refuses any other. */
export interface MemberPlace {
  readonly memberId: string;
  readonly generation: number;
}

/** Partitions that a member is given. */
export interface Placement {
  readonly partitions: readonly number[];
  /** Partitions of which the member has the second replica. */
  readonly standbys: readonly number[];
}

/** An assignment and the member that it was given to. */
interface Assignment {
  readonly memberId: string;
  readonly placement: Placement;
}

/** Silence of a member, in sessions, after which it is started again; the first of them has cost its partitions. */
const silentSessionsMax = 2;
/**
 * Silence of a member that joins, in time limits of rebalances, after which it is started again: a join waits for the
 * other members.
 */
const joinRebalancesMax = 2;

/**
 * The session of a group member as its broker counts it. All moments are monotonic milliseconds: no step of the wall
 * clock lengthens or ends a session.
 */
export class MembershipSession {
  readonly #rebalanceTimeoutMs: number;
  /** Silence after which the broker gives the partitions to others, milliseconds. */
  sessionMs: number;
  #memberId: string | null = null;
  #generation = -1;
  /** False between a join and its first heartbeat, which carries the generation. */
  #generationKnown = false;
  /** The newest assignment, still in force as long as heartbeats with its member id succeed. */
  #assignment: Assignment | null = null;
  /** The broker has heard of the member at this moment or later. */
  #contactMs = Number.NEGATIVE_INFINITY;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** Newest progress, also that of a join. */
  #signMs = Number.NEGATIVE_INFINITY;
  #isJoining = true;
  /** When the last request of the running join was sent; null before. */
  #syncMs: number | null = null;

  constructor(sessionMs: number, rebalanceTimeoutMs: number) {
    this.sessionMs = sessionMs;
    this.#rebalanceTimeoutMs = rebalanceTimeoutMs;
  }

  get memberId(): string | null {
    return this.#memberId;
  }

  /** Generation of the newest heartbeat; -1 before the first one. */
  get generation(): number {
    return this.#generation;
  }

  /** The member of the newest assignment, also after it was given up. */
  get assignment(): Assignment | null {
    return this.#assignment;
  }

  /** The place of the member, once its generation is known. */
  place(): MemberPlace | null {
    if (this.#memberId === null || !this.#generationKnown) return null;
    return { memberId: this.#memberId, generation: this.#generation };
  }

  /** Whether the broker certainly counts the member. */
  alive(nowMs: number): boolean {
    return this.#memberId !== null && this.#isInTouch(nowMs);
  }

  /** Another member begins to join. */
  begin(nowMs: number): void {
    this.#assignment = null;
    this.rejoin(nowMs);
  }

  /** The member joins again, and sends no heartbeats until then. */
  rejoin(nowMs: number): void {
    this.#isJoining = true;
    this.#signMs = nowMs;
    this.#syncMs = null;
  }

  /** The last request of a join is sent: its coordinator hears of the member at this moment or later. */
  syncing(nowMs: number): void {
    this.#syncMs = nowMs;
  }

  /** False when others may have owned its partitions since the last assignment. */
  joined(assignment: Assignment, nowMs: number): boolean {
    const sameMember = assignment.memberId === this.#memberId && this.alive(nowMs);
    this.#take(assignment);
    this.#isJoining = false;
    this.#contactMs = this.#syncMs ?? nowMs;
    this.#answeredMs = nowMs;
    this.#signMs = nowMs;
    return sameMember;
  }

  /**
   * A heartbeat was answered. Heartbeats follow each other, so it was sent after the answer to the one before, and that
   * is the contact that counts: the answer may have been on its way for longer than a session. Returns the assignment
   * when the member had given up after a silence, and the broker, which was unavailable, still counts it.
   */
  heard(place: MemberPlace, nowMs: number): Assignment | null {
    const assignment = this.#assignment;
    if (assignment?.memberId !== place.memberId) return null;
    this.#contactMs = this.#answeredMs;
    this.#answeredMs = nowMs;
    this.#signMs = nowMs;
    const isBack = this.#memberId === null && this.#isInTouch(nowMs);
    if (isBack) this.#take(assignment);
    if (this.#memberId !== null) {
      this.#generation = place.generation;
      this.#generationKnown = true;
    }
    return isBack ? assignment : null;
  }

  /** The member counts as out of its group. False when it did so already. */
  lose(): boolean {
    const had = this.#memberId !== null;
    this.#memberId = null;
    this.#generationKnown = false;
    return had;
  }

  /** Whether the broker may have given the partitions to others by now. */
  isOver(nowMs: number): boolean {
    return this.#memberId !== null && !this.#isInTouch(nowMs);
  }

  /** Whether half a session is over without an answer. */
  isSilent(nowMs: number): boolean {
    return nowMs - this.#answeredMs > this.sessionMs / 2;
  }

  /** Whether the member makes no progress and has to be started again. */
  isStuck(nowMs: number): boolean {
    const limitMs = this.#isJoining
      ? this.#rebalanceTimeoutMs * joinRebalancesMax
      : this.sessionMs * silentSessionsMax;
    return nowMs - this.#signMs > limitMs;
  }

  #isInTouch(nowMs: number): boolean {
    return nowMs - this.#contactMs < this.sessionMs;
  }

  #take(assignment: Assignment): void {
    this.#memberId = assignment.memberId;
    this.#assignment = assignment;
    this.#generationKnown = false;
  }
}
