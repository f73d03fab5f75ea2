import {
  type AgentId,
  agentIdFromBytes,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { AgentEntry } from '@pm/schemas/log/agents';
import type { AgentStatus } from '@pm/schemas/log/types';

/** An agent that is not deleted. */
export interface Agent {
  readonly id: AgentId;
  readonly owner: WalletAddress;
  readonly name: string;
  readonly status: AgentStatus;
  readonly createdAtMs: number;
  /** Unix milliseconds, to the minute; 0 when its key was never used. */
  readonly lastActiveAtMs: number;
}

type Settings = Omit<Agent, 'lastActiveAtMs'>;

/**
 * The agents of the exchange, folded from the compacted topic `agents`. Records of one agent may come in any order:
 * compaction keeps the newest of each kind at its offset.
 */
export class AgentDirectory {
  readonly #settings = new Map<AgentId, Settings>();
  readonly #ofOwner = new Map<WalletAddress, Set<AgentId>>();
  readonly #keyOf = new Map<AgentId, string>();
  readonly #byKey = new Map<string, AgentId>();
  readonly #seen = new Map<AgentId, number>();
  readonly #deleted = new Set<AgentId>();
  /** Deleted agents of each owner: they count against the owner's limit for ever. */
  readonly #deletedOf = new Map<WalletAddress, number>();

  /** Agents that are not deleted. */
  get size(): number {
    return this.#settings.size;
  }

  /** Agents ever made: deleted ones are remembered. */
  get madeInAll(): number {
    return this.#settings.size + this.#deleted.size;
  }

  apply(entry: AgentEntry): void {
    const id = agentIdFromBytes(entry.agent);
    if (entry.kind === 'AgentDeleted') this.#delete(id, walletFromBytes(entry.owner));
    else if (this.#deleted.has(id)) return;
    else if (entry.kind === 'AgentSettings') this.#set(id, entry);
    else if (entry.kind === 'AgentKey') this.#setKey(id, entry.keyHash.toString('hex'));
    else this.#seen.set(id, Math.max(entry.lastActiveAtMs, this.#seen.get(id) ?? 0));
  }

  find(id: AgentId): Agent | undefined {
    const settings = this.#settings.get(id);
    if (settings === undefined) return undefined;
    return { ...settings, lastActiveAtMs: this.#seen.get(id) ?? 0 };
  }

  /** The agent whose key has this SHA-256; also a paused one. */
  findByKey(keyHash: Buffer): Agent | undefined {
    const id = this.#byKey.get(keyHash.toString('hex'));
    return id === undefined ? undefined : this.find(id);
  }

  /** In the order of creation. */
  listOf(owner: WalletAddress): readonly Agent[] {
    const agents = [...(this.#ofOwner.get(owner) ?? [])].flatMap((id) => this.find(id) ?? []);
    return agents.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  /** Agents that an owner ever created, including deleted ones. */
  madeBy(owner: WalletAddress): number {
    return (this.#ofOwner.get(owner)?.size ?? 0) + (this.#deletedOf.get(owner) ?? 0);
  }

  #set(id: AgentId, entry: Extract<AgentEntry, { kind: 'AgentSettings' }>): void {
    const { name, status, createdAtMs } = entry;
    const owner = walletFromBytes(entry.owner);
    this.#settings.set(id, { id, owner, name, status, createdAtMs });
    const siblings = this.#ofOwner.get(owner) ?? new Set<AgentId>();
    this.#ofOwner.set(owner, siblings.add(id));
  }

  #setKey(id: AgentId, keyHash: string): void {
    this.#dropKey(id);
    this.#keyOf.set(id, keyHash);
    this.#byKey.set(keyHash, id);
  }

  #dropKey(id: AgentId): void {
    const keyHash = this.#keyOf.get(id);
    if (keyHash !== undefined) this.#byKey.delete(keyHash);
    this.#keyOf.delete(id);
  }

  #delete(id: AgentId, owner: WalletAddress): void {
    if (this.#deleted.has(id)) return;
    this.#deleted.add(id);
    this.#deletedOf.set(owner, (this.#deletedOf.get(owner) ?? 0) + 1);
    this.#dropKey(id);
    this.#settings.delete(id);
    this.#ofOwner.get(owner)?.delete(id);
    this.#seen.delete(id);
  }
}
