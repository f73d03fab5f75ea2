import type { Admin } from 'kafkajs';
import { Fault, within } from '../fault/index.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import type { Membership } from './membership.io.ts';
import { parseOffset } from './records.ts';
import { pause } from './waiting.io.ts';

/** A committed position and the text that was committed with it. */
export interface CommittedPosition {
  readonly offset: number;
  readonly metadata: string;
}

export interface CommitRequest extends CommittedPosition {
  readonly partition: number;
  /** Whether the caller still owns the partition that it owned at the call; checked before each attempt. */
  stillOwned(): boolean;
}

/** The broker no longer counts this member: others may own its partitions. */
const lostTypes = ['UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID'];

/**
 * Commits of one group and topic, each with the generation it belongs to. kafkajs' own `commitOffsets` takes the
 * newest generation at each retry, so a late one could move the position of the partition's next owner.
 */
export class GroupCommits {
  readonly #options: { groupId: string; topic: string; limits: LogClientLimits };
  readonly #membership: Membership;
  readonly #admin: Admin;
  /** That of the commits before; null after a failure, since another broker may coordinate the group by now. */
  #coordinator: Awaited<ReturnType<Membership['coordinator']>> | null = null;

  constructor(
    membership: Membership,
    admin: Admin,
    options: { groupId: string; topic: string; limits: LogClientLimits },
  ) {
    this.#membership = membership;
    this.#admin = admin;
    this.#options = options;
  }

  /**
   * Rejects with `ownership_lost` (release) when the partition went to another owner, and with
   * `commit_outcome_unknown` (release) after `commitTimeoutMs` without a clear answer.
   */
  async commit(request: CommitRequest): Promise<void> {
    const { limits } = this.#options;
    let given = false;
    // An abandoned attempt must not move the position later.
    const stillWanted = () => !given && request.stillOwned();
    const late = () => this.#unknown(request.partition);
    try {
      await within(
        this.#retry({ ...request, stillOwned: stillWanted }),
        limits.commitTimeoutMs,
        late,
      );
    } finally {
      given = true;
    }
  }

  async #retry(request: CommitRequest): Promise<void> {
    const { limits } = this.#options;
    let waitMs = limits.initialRetryMs;
    let cause: unknown;
    for (;;) {
      if (!request.stillOwned()) throw this.#lost(request.partition, cause);
      try {
        if (await this.#tryOnce(request)) return;
      } catch (error) {
        this.#coordinator = null;
        cause = error;
        const { type } = failureOf(error);
        if (error instanceof Fault || lostTypes.includes(type))
          throw this.#lost(request.partition, error);
      }
      await pause(waitMs);
      waitMs = Math.min(waitMs * 2, limits.heartbeatMs);
    }
  }

  /** The newest commit of any member, or `null`. Rejects with `group_unreachable` (retry). */
  async committed(partition: number): Promise<CommittedPosition | null> {
    const { groupId, topic } = this.#options;
    const late = () => new Fault('group_unreachable', 'retry', { facts: this.#facts(partition) });
    const fetching = this.#admin.fetchOffsets({ groupId, topics: [topic] });
    const topics = await within(fetching, this.#options.limits.commitTimeoutMs, late);
    const found = topics[0]?.partitions.find((one) => one.partition === partition);
    if (found === undefined || parseOffset(found.offset) < 0) return null;
    return { offset: parseOffset(found.offset), metadata: found.metadata ?? '' };
  }

  /** False when a rebalance is under way and the generation not known yet. */
  async #tryOnce({ partition, offset, metadata, stillOwned }: CommitRequest): Promise<boolean> {
    const { groupId, topic } = this.#options;
    this.#coordinator ??= await this.#membership.coordinator();
    const coordinator = this.#coordinator;
    const place = this.#membership.place();
    if (place === null) return false;
    // Nothing may run between this check and the request: the place and the ownership belong together.
    if (!stillOwned()) throw this.#lost(partition);
    const position = { partition, offset: String(offset), metadata };
    await coordinator.offsetCommit({
      groupId,
      memberId: place.memberId,
      groupGenerationId: place.generation,
      topics: [{ topic, partitions: [position] }],
    });
    return true;
  }

  #lost(partition: number, cause?: unknown): Fault {
    return new Fault('ownership_lost', 'release', { facts: this.#facts(partition), cause });
  }

  #unknown(partition: number): Fault {
    return new Fault('commit_outcome_unknown', 'release', { facts: this.#facts(partition) });
  }

  #facts(partition: number): Record<string, string | number> {
    const { groupId, topic } = this.#options;
    return { groupId, topic, partition };
  }
}
