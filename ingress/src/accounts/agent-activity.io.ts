import type { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import { flushIntervalMs } from '@pm/domain/accounts/agent-activity.io';
import { reactionTo } from '@pm/kit/fault';
import type { AgentId } from '@pm/schemas/ids';
import type { Agents } from './agents.io.ts';

export interface ActivityRunnerOptions {
  readonly agents: Pick<Agents, 'find' | 'noteSeen'>;
  readonly activity: Pick<AgentActivity, 'takeAll' | 'forget'>;
  /** A fault that does not pass. */
  onFault(error: unknown): void;
}

/** Writes the uses noted by all processes to the log, unless another process has just done so. Throws faults. */
export async function flushActivity({ agents, activity }: ActivityRunnerOptions): Promise<void> {
  const noted = await activity.takeAll();
  if (noted === null) return;
  const moved = new Map<AgentId, number>();
  const gone: AgentId[] = [];
  for (const [id, seenAtMs] of noted) {
    const agent = agents.find(id);
    if (agent === undefined) gone.push(id);
    else if (seenAtMs > agent.lastActiveAtMs) moved.set(id, seenAtMs);
  }
  await agents.noteSeen(moved);
  activity.forget(gone);
}

/** Flushes every minute; after a transient fault the next flush tries again. */
export function runActivity(options: ActivityRunnerOptions): { close(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = flushActivity(options).catch((error: unknown) => {
      // A note that may or may not be on the log is written again: the newest counts.
      if (reactionTo(error) === 'stop') options.onFault(error);
    });
  }, flushIntervalMs);
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
