import type { GroupDescriptions, Kafka } from 'kafkajs';
import { Fault, within } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { cutConnections, openCluster } from './kafkajs-cluster.io.ts';
import { failureFacts, NoResponse } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { hasEnded } from './process-mark.io.ts';
import { parseClaim } from './sticky-assignor.io.ts';
import { pause } from './waiting.io.ts';

/** The requests to the coordinator of a group that are used; kafkajs has them all, and types for some. */
export interface GroupCoordinator {
  describeGroups(request: { readonly groupIds: string[] }): Promise<GroupDescriptions>;
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}

export interface DeadMembersOptions {
  readonly groupId: string;
  readonly log: Log;
  readonly limits: Pick<LogClientLimits, 'metadataTimeoutMs'>;
  /** A coordinator on a connection on which no join is waiting: a broker answers the requests of one in their order. */
  coordinator(): Promise<GroupCoordinator>;
  /** Whether the process of this mark has certainly ended. */
  hasEnded(mark: string): boolean;
}

/** Looks for the join of this process at the coordinator, and the wait between two, milliseconds. */
const looksMax = 100;
const lookMs = 10;

/**
 * The members of a group whose processes have ended on this machine without leaving, such as the one that this process
 * replaces. A join waits for them until their session ends, unless they are removed. Members of other machines and
 * those without a mark stay: they cannot be proved dead.
 */
export class DeadMembers {
  readonly #options: DeadMembersOptions;
  #found: readonly string[] = [];

  constructor(options: DeadMembersOptions) {
    this.#options = options;
  }

  /** Before the join: the coordinator shows the claims of the members of a settled group only. Never rejects. */
  async find(): Promise<void> {
    try {
      const { members } = await this.#describe();
      const dead = members.filter(({ memberId, memberMetadata }) => {
        const { process } = parseClaim(memberId, memberMetadata);
        return process !== '' && this.#options.hasEnded(process);
      });
      this.#found = dead.map(({ memberId }) => memberId);
    } catch (error) {
      this.#warn(error);
    }
  }

  /** A member that is known to be dead: a former one of this process. */
  take(memberId: string): void {
    this.#found = [memberId];
  }

  /**
   * While the join of this process waits: takes the found members out of the group, so that it settles at once. Before
   * the join the group would become empty, and the broker lets an empty group wait for more members
   * (`group.initial.rebalance.delay.ms`). Never rejects.
   */
  async evict(): Promise<void> {
    if (this.#found.length === 0) return;
    const { groupId, log } = this.#options;
    try {
      for (let looks = 0; looks < looksMax; looks += 1) {
        if ((await this.#describe()).state !== settled) break;
        await pause(lookMs);
      }
      const coordinator = await this.#options.coordinator();
      const leaving = this.#found.map((memberId) => coordinator.leaveGroup({ groupId, memberId }));
      // One that is no longer known has left meanwhile.
      const removed = (await Promise.allSettled(leaving)).filter(
        (one) => one.status === 'fulfilled',
      );
      log.info({ groupId, members: removed.length }, 'removed members that are dead');
    } catch (error) {
      this.#warn(error);
    }
  }

  async #describe() {
    const { groupId, limits } = this.#options;
    const asking = async () =>
      (await this.#options.coordinator()).describeGroups({ groupIds: [groupId] });
    const late = () => new Fault('group_unreachable', 'retry', { facts: { groupId } });
    const { groups } = await within(asking(), limits.metadataTimeoutMs, late);
    return { state: groups[0]?.state ?? '', members: groups[0]?.members ?? [] };
  }

  /** The session of the dead member ends some time; until then the join waits. */
  #warn(error: unknown): void {
    const { groupId, log } = this.#options;
    log.warn({ groupId, ...failureFacts(error) }, 'dead members of the group were not removed');
  }
}

const settled = 'Stable';

/** Over a connection of its own, which `close` ends. */
export function openDeadMembers(
  { kafka, limits, log }: { kafka: Kafka; limits: LogClientLimits; log: Log },
  groupId: string,
): { readonly members: DeadMembers; close(): void } {
  const cluster = openCluster(kafka, limits);
  let isClosed = false;
  const cut = () => cutConnections(cluster, new NoResponse('it is not waited for'));
  const coordinator = async () => {
    try {
      await cluster.connect();
      return (await cluster.findGroupCoordinator({ groupId })) as unknown as GroupCoordinator;
    } finally {
      // A look that nobody waits for goes on, and connects again.
      if (isClosed) cut();
    }
  };
  const members = new DeadMembers({ groupId, log, limits, coordinator, hasEnded });
  const close = () => {
    isClosed = true;
    cut();
  };
  return { members, close };
}
