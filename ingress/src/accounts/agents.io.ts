import { randomBytes } from 'node:crypto';
import type { Agent, AgentDirectory } from '@pm/domain/accounts/agent-directory';
import { newAgentKey } from '@pm/domain/accounts/agent-key.io';
import { hashOfKey } from '@pm/domain/accounts/key-hash';
import type { CompactedTable } from '@pm/domain/commands/compacted-table.io';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { Clock } from '@pm/kit/clock';
import {
  type AgentId,
  agentIdBytes,
  agentIdFromBytes,
  hexBytes,
  type WalletAddress,
} from '@pm/schemas/ids';
import { type AgentEntry, agentKeyOf } from '@pm/schemas/log/agents';
import type { AgentStatus } from '@pm/schemas/log/types';
import { freeEntries } from '@pm/schemas/redis/held-entries';
import { agentsEverMax, agentsMax } from './api-keys.io.ts';
import type { BrokenLimit, EntryQuota } from './entry-quota.io.ts';

export interface AgentsOptions {
  readonly clock: Clock;
  readonly directory: AgentDirectory;
  /** The topic `agents`, folded into the directory. */
  readonly table: Pick<CompactedTable<AgentEntry>, 'write'>;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
}

/** An agent with its fresh key, which is shown this once. */
export interface KeyedAgent {
  readonly agent: Agent;
  readonly key: string;
}

/**
 * Agents as their owners manage them (conventions.md 2.7). Methods resolve when the change is durable; they throw a
 * `Fault`.
 */
export class Agents {
  readonly #options: AgentsOptions;
  /** By owner: agents are counted, read, changed and written. */
  readonly #mutex = new KeyedMutex();

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  list(owner: WalletAddress): readonly Agent[] {
    return this.#options.directory.listOf(owner);
  }

  /** An agent with its key, or the limit that one more would break. */
  create(owner: WalletAddress, name: string): Promise<KeyedAgent | BrokenLimit> {
    return this.#mutex.run(owner, async () => {
      const { directory, clock, entryQuota } = this.#options;
      if (directory.listOf(owner).length >= agentsMax) return { max: agentsMax };
      if (directory.madeBy(owner) >= agentsEverMax) return { max: agentsEverMax };
      const held = { entries: directory.madeInAll, free: freeEntries.agents };
      if (!(await entryQuota.admits(held, owner))) return { max: null };
      const id = agentIdFromBytes(randomBytes(16));
      const createdAtMs = clock.nowMs();
      const agent: Agent = {
        id,
        owner,
        name,
        status: 'ACTIVE',
        createdAtMs,
        lastActiveAtMs: 0,
      };
      const key = newAgentKey();
      await this.#write([settingsOf(agent), keyOf(agent, key, createdAtMs)]);
      return { agent, key };
    });
  }

  /** The agent as it is then; null when the owner has no such agent. */
  setStatus(owner: WalletAddress, id: AgentId, status: AgentStatus): Promise<Agent | null> {
    return this.#change(owner, id, async (agent) => {
      const changed = { ...agent, status };
      if (agent.status !== status) await this.#write([settingsOf(changed)]);
      return changed;
    });
  }

  /** A fresh key; the previous one proves nothing from here on, in the other processes within milliseconds. */
  rotate(owner: WalletAddress, id: AgentId): Promise<KeyedAgent | null> {
    return this.#change(owner, id, async (agent) => {
      const key = newAgentKey();
      await this.#write([keyOf(agent, key, this.#options.clock.nowMs())]);
      return { agent, key };
    });
  }

  /** Whether the owner had such an agent; it is gone for ever. */
  async delete(owner: WalletAddress, id: AgentId): Promise<boolean> {
    const deleted = await this.#change(owner, id, async (agent) => {
      const ids = { agent: agentIdBytes(agent.id), owner: hexBytes(owner) };
      await this.#write([
        { kind: 'AgentDeleted', ...ids, deletedAtMs: this.#options.clock.nowMs() },
      ]);
      return agent;
    });
    return deleted !== null;
  }

  /** Writes the last-active times of agents. */
  async noteSeen(seen: ReadonlyMap<AgentId, number>): Promise<void> {
    const entries = [...seen].map(([id, lastActiveAtMs]): AgentEntry => {
      return { kind: 'AgentSeen', agent: agentIdBytes(id), lastActiveAtMs };
    });
    if (entries.length > 0) await this.#write(entries);
  }

  find(id: AgentId): Agent | undefined {
    return this.#options.directory.find(id);
  }

  #change<T>(
    owner: WalletAddress,
    id: AgentId,
    change: (agent: Agent) => Promise<T>,
  ): Promise<T | null> {
    return this.#mutex.run(owner, async () => {
      const agent = this.find(id);
      return agent?.owner === owner ? await change(agent) : null;
    });
  }

  async #write(entries: readonly AgentEntry[]): Promise<void> {
    const { table } = this.#options;
    await table.write(entries.map((value) => ({ key: agentKeyOf(value), value })));
  }
}

function settingsOf(agent: Agent): AgentEntry {
  const { owner, name, status, createdAtMs } = agent;
  const ids = { agent: agentIdBytes(agent.id), owner: hexBytes(owner) };
  return { kind: 'AgentSettings', ...ids, name, status, createdAtMs };
}

function keyOf(agent: Agent, key: string, rotatedAtMs: number): AgentEntry {
  return { kind: 'AgentKey', agent: agentIdBytes(agent.id), keyHash: hashOfKey(key), rotatedAtMs };
}
