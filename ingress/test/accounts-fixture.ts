import { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import { AgentDirectory } from '@pm/domain/accounts/agent-directory';
import type { KeySecrets } from '@pm/domain/accounts/derive-keys';
import { KeyDirectory } from '@pm/domain/accounts/key-directory';
import { openKeyVerifier } from '@pm/domain/accounts/key-verifier';
import { ReadKeyDirectory } from '@pm/domain/accounts/read-key-directory';
import { openReaderVerifier } from '@pm/domain/accounts/reader-verifier';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { type StatusFacts, WalletStatuses } from '@pm/domain/wallets/wallet-statuses.io';
import { WalletRows, WalletWriter } from '@pm/domain/wallets/wallet-table.io';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { WalletAddress } from '@pm/schemas/ids';
import type { Credential, ReadKey, WalletStatus } from '@pm/schemas/log/accounts';
import type { AgentEntry } from '@pm/schemas/log/agents';
import type { NotificationMark } from '@pm/schemas/log/notifications';
import { redisKeys } from '@pm/schemas/redis/keys';
import { Agents } from '../src/accounts/agents.io.ts';
import { ApiKeys, keyFold } from '../src/accounts/api-keys.io.ts';
import { DeletedNotifications, NotificationMarks } from '../src/accounts/notification-marks.io.ts';
import { ReadOnlyKeys } from '../src/accounts/read-only-keys.io.ts';
import { RoomFake } from './room-fixture.ts';
import { MemoryTopic } from './table-fixture.ts';

const serverSecret = Buffer.alloc(32, 5);

/** The part of Redis that uses of agents are noted in; it may be away. */
class MemoryRedis {
  readonly seen = new Map<string, string>();
  isAway = false;
  isHeld = false;
  writes = 0;

  async hlen() {
    this.#ask();
    return this.seen.size;
  }

  async hexists(_key: string, agent: string) {
    this.#ask();
    return Number(this.seen.has(agent));
  }

  async hset(_key: string, agent: string, text: string) {
    this.#ask();
    this.writes += 1;
    this.seen.set(agent, text);
    return 1;
  }

  async hmget(_key: string, ...agents: string[]) {
    this.#ask();
    return agents.map((agent) => this.seen.get(agent) ?? null);
  }

  async hgetall() {
    this.#ask();
    return Object.fromEntries(this.seen);
  }

  async hdel(_key: string, ...agents: string[]) {
    this.#ask();
    for (const agent of agents) this.seen.delete(agent);
    return agents.length;
  }

  /** The script of the lease. */
  async evalsha() {
    this.#ask();
    if (this.isHeld) return 0;
    this.isHeld = true;
    return 1;
  }

  eval() {
    return this.evalsha();
  }

  async script() {
    return null;
  }

  #ask(): void {
    if (this.isAway) throw new Fault('redis_unavailable', 'retry');
  }
}

/** The topics about keys, agents and wallets, which outlive every process, and Redis. */
export class AccountTopics {
  readonly credentials = new MemoryTopic<Credential>();
  readonly readKeys = new MemoryTopic<ReadKey>();
  readonly agents = new MemoryTopic<AgentEntry>();
  readonly walletStatus = new MemoryTopic<WalletStatus>();
  readonly notificationMarks = new MemoryTopic<NotificationMark>();
  /** Wallets that the solvency check has closed. */
  readonly closed = new Set<WalletAddress>();
  readonly redis = new MemoryRedis();
  readonly room = new RoomFake();
  /** The secrets of processes that are opened from now on. */
  secrets: KeySecrets = { present: serverSecret, others: [] };

  /** One more process. */
  open(
    owners: WalletOwners,
    clock: Clock,
    freshness = { secondsMs: 300_000, millisecondsMs: 30_000 },
  ) {
    const directory = new KeyDirectory();
    const readDirectory = new ReadKeyDirectory();
    const agentDirectory = new AgentDirectory();
    const statuses = new WalletRows<StatusFacts>();
    const marks = new DeletedNotifications();
    const { secrets } = this;
    const proof = { keys: directory, secrets, freshness, nowMs: () => clock.nowMs() };
    const verify = openKeyVerifier(proof);
    const { redis } = this;
    const onFault = (error: unknown) => {
      throw error;
    };
    const { room } = this;
    const keys: ApiKeys = new ApiKeys({
      secrets,
      entryQuota: room,
      clock,
      directory,
      table: this.credentials.open(
        keyFold(directory, owners, (apiKey) => void keys.revokeAgain(apiKey)),
      ),
    });
    return {
      directory,
      ingress: {
        keys,
        readOnlyKeys: new ReadOnlyKeys({
          secrets,
          clock,
          entryQuota: room,
          directory: readDirectory,
          table: this.readKeys.open(readDirectory),
        }),
        agents: new Agents({
          clock,
          entryQuota: room,
          directory: agentDirectory,
          table: this.agents.open(agentDirectory),
        }),
        agentDirectory,
        keyDirectory: directory,
        notificationMarks: new NotificationMarks({
          clock,
          entryQuota: room,
          marks,
          table: this.notificationMarks.open(marks),
        }),
        walletStatus: new WalletStatuses(statuses, {
          isClosed: (wallet) => this.closed.has(wallet),
        }),
        /** Sets statuses, as the operator's process does. */
        statusWriter: new WalletWriter<StatusFacts>({
          clock,
          table: this.walletStatus.open(statuses),
        }),
        activity: new AgentActivity({ redis, keys: redisKeys('t'), clock, onFault }),
        verify,
        verifyBuilder: openKeyVerifier({ ...proof, kind: 'BUILDER' }),
        verifyReader: openReaderVerifier(verify, readDirectory),
      },
    };
  }
}
