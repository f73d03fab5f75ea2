import type { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import type { Agent, AgentDirectory } from '@pm/domain/accounts/agent-directory';
import type { ListedKey } from '@pm/domain/accounts/key-directory';
import type { KeyVerifier } from '@pm/domain/accounts/key-verifier';
import type { ReaderVerifier } from '@pm/domain/accounts/reader-verifier';
import type { WalletClaim } from '@pm/domain/accounts/wallet-claim';
import type { Ledger, Send } from '@pm/domain/ledger/ledger';
import type { Clock } from '@pm/kit/clock';
import type {
  AgentId,
  AgentStatus,
  ApiKeyId,
  ApiKeyTrio,
  Command,
  ConditionId,
  KeyKind,
  OrderId,
  SelfTrade,
  TokenId,
  Transfer,
  WalletAddress,
  WalletStatusKind,
} from '@pm/schemas';
import type { DomainReading } from '../core/explain-signature.ts';
import type { HeartbeatClaim, HeartbeatOutcome } from '../core/heartbeat.ts';
import type { ListedToken } from '../core/listed-token.ts';
import type { Keccak, OrderStruct } from '../core/order-hash.ts';
import type { SignatureJob, SignatureVerdict } from '../core/order-signature.ts';
import type { EventsPlace, PlacedEvent, PlacementAnswer } from '../core/placement-answer.ts';
import type { WalletOwners } from '../core/wallet-owners.ts';
import type { SocialDesks } from './comments/desks.ts';

/** What became of a command that was to go on the log. */
export type CommandOutcome =
  | {
      readonly kind: 'answered';
      readonly place: EventsPlace;
      readonly events: readonly PlacedEvent[];
      /** From the queue to being durable, and from there to the result, milliseconds. */
      readonly times?: { readonly logMs: number; readonly matchMs: number };
    }
  /** The matcher rejected the whole record: it changed nothing. */
  | { readonly kind: 'rejected' }
  /** Certainly not on the log. */
  | { readonly kind: 'unsent'; readonly code: 'overloaded' | 'internal_error' }
  /** No answer in time; it may be on the log. */
  | { readonly kind: 'pending' };

/** Puts commands on the log and waits, bounded, for what they did. */
export interface CommandLog {
  run(partition: number, command: Command): Promise<CommandOutcome>;
}

/** What is known of the partitions from their executions. */
export interface PartitionView {
  readonly count: number;
  /** Heard of lately: it has an owner that works. */
  isReady(partition: number): boolean;
}

/** Recent results, of every ingress. */
export interface AnswerMemory {
  recall(orderId: OrderId): PlacementAnswer | undefined;
  /** The partition an order was placed in, while it is remembered. */
  partitionOf(orderId: OrderId): number | undefined;
  /** Whether an order signed then (Unix milliseconds) may have been answered without the memory knowing. */
  mayHaveForgotten(signedAtMs: number): boolean;
}

/** Orders that the matcher holds for a moment first. */
interface DelayedOrders {
  /** The answer at the end of the delay; null when it has not come within the time. */
  finalAnswer(orderId: OrderId, waitMs: number): Promise<PlacementAnswer | null>;
}

export interface MarketDirectory {
  findToken(id: TokenId): ListedToken | undefined;
  findCondition(id: ConditionId): ListedToken | undefined;
}

/** A limit that is reached. */
interface Full {
  readonly max: number;
}

/** Where keys are given out and taken back. What changes something resolves when it is durable, and throws a `Fault`. */
export interface KeyDesk {
  /** The active key of wallet and nonce; null when there is none. */
  derive(wallet: WalletAddress, nonce: string): ApiKeyTrio | null;
  /** The same key, made or made active again. */
  create(wallet: WalletAddress, nonce: string): Promise<ApiKeyTrio | Full>;
  createBuilder(wallet: WalletAddress): Promise<ApiKeyTrio | Full>;
  /** Revoked ones too. */
  list(wallet: WalletAddress, kind: KeyKind): readonly ListedKey[];
  /** False when the wallet has no such key. */
  revoke(wallet: WalletAddress, kind: KeyKind, apiKey: ApiKeyId): Promise<boolean>;
  revokeNonce(wallet: WalletAddress, nonce: string): Promise<boolean>;
  /** False when the key was revoked meanwhile. */
  setSelfTrade(wallet: WalletAddress, apiKey: ApiKeyId, selfTrade: SelfTrade): Promise<boolean>;
}

/** The same for keys that open reads alone. */
export interface ReadKeyDesk {
  create(wallet: WalletAddress): Promise<ApiKeyId | Full>;
  list(wallet: WalletAddress): readonly ApiKeyId[];
  delete(wallet: WalletAddress, key: ApiKeyId): Promise<boolean>;
  isValid(address: string, key: string): boolean;
}

/** An agent with a fresh key. */
interface KeyedAgent {
  readonly agent: Agent;
  readonly key: string;
}

/** Agents as their owners manage them; null when the owner has no such agent. */
export interface AgentDesk {
  list(owner: WalletAddress): readonly Agent[];
  create(owner: WalletAddress, name: string): Promise<KeyedAgent | Full>;
  setStatus(owner: WalletAddress, id: AgentId, status: AgentStatus): Promise<Agent | null>;
  rotate(owner: WalletAddress, id: AgentId): Promise<KeyedAgent | null>;
  delete(owner: WalletAddress, id: AgentId): Promise<boolean>;
}

/** What operators allow a wallet. */
export interface WalletStatusView {
  of(wallet: WalletAddress): WalletStatusKind;
}

/** Who signed what, checked away from the loop when that pays. */
export interface SignatureChecks {
  /** One verdict per job; null as a whole when the queue is full. */
  check(jobs: readonly SignatureJob[]): Promise<readonly SignatureVerdict[] | null>;
  /** What the signature proves under each accepted domain. */
  explain(job: SignatureJob): readonly DomainReading[];
  /** Whether the wallet signed the attestation, on any accepted chain. */
  isAttested(claim: WalletClaim): boolean;
}

export interface OrderHashes {
  readonly keccak: Keccak;
  structHash(order: OrderStruct): Buffer;
  /** The id an order has under the likeliest domain, for texts about orders whose signature was not checked. */
  likelyId(structHash: Buffer, negRisk: boolean): OrderId;
}

/** The part of the collateral ledger the door needs. */
export interface Reservations
  extends Pick<Ledger, 'reserve' | 'reserveWithdrawal' | 'appliedTransfer'> {
  cancelReservation(send: Send): Promise<unknown>;
  /** What is free, and what of it can be reserved, micro-USDC. */
  balance(
    wallet: WalletAddress,
  ): Promise<{ readonly freeMicro: number; readonly availableMicro: number }>;
}

/** Whose withdrawals are frozen until an operator clears them. */
export interface WithdrawalFreezeView {
  isFrozen(wallet: WalletAddress): boolean;
}

/** Where money that leaves is written down. */
export interface TransferWrites {
  /** `unknown`: it may be on the log. */
  write(transfer: Transfer): Promise<'written' | 'unsent' | 'unknown'>;
}

/** Names a request of a caller that may come again, and this process's hold of it. */
export interface RetryKey {
  readonly caller: string;
  readonly digest: string;
  /** What the request means. */
  readonly fingerprint: string;
  readonly token: string;
}

/** Requests with a retry key, shared by all ingress. Every call rejects with a `Fault` (retry) when the store is away. */
export interface RetryKeys {
  /**
   * `fresh`: not seen before. `resumed`: begun by somebody who seems dead; `text` is what he recorded. `done`: `text` is the
   * answer. `running`: begun a moment ago. `reused`: means something else. `full`: too many keys.
   */
  begin(key: RetryKey): Promise<{
    readonly kind: 'fresh' | 'resumed' | 'done' | 'running' | 'reused' | 'full';
    readonly text: string;
  }>;
  /** Keeps what is about to be sent; false when somebody else carries on by now. */
  record(key: RetryKey, attempt: string): Promise<boolean>;
  finish(key: RetryKey, answer: string): Promise<void>;
  /** Leaves it to whoever asks next. */
  yield(key: RetryKey): Promise<void>;
  /** As if it had never been asked. */
  forget(key: RetryKey): Promise<void>;
}

export type Stage = 'check' | 'signature' | 'reserve' | 'result';

/** What the door counts. */
export interface DoorMetrics {
  stage(stage: Stage, ms: number): void;
  refused(code: string): void;
  placed(status: string): void;
}

/** Where heartbeats are taken. */
export interface Heartbeats {
  /** Resolves when the heartbeat is durable and counts, or does not. */
  beat(
    holder: { readonly apiKey: ApiKeyId; readonly address: WalletAddress },
    claim: HeartbeatClaim,
  ): Promise<HeartbeatOutcome>;
}

/** What wallets do not want to be told again. */
interface NotificationMarksDesk {
  /** Resolves when it is durable. Throws a `Fault`. */
  delete(wallet: WalletAddress, ids: readonly number[]): Promise<void>;
}

/** Everything the public routes need; tests bring their own. */
export interface DoorPorts {
  readonly clock: Clock;
  /** Proves the API key of a private request. */
  readonly verify: KeyVerifier;
  /** Proves a builder's key. */
  readonly verifyBuilder: KeyVerifier;
  /** Proves an API key or a read-only one. */
  readonly verifyReader: ReaderVerifier;
  readonly walletStatus: WalletStatusView;
  readonly keys: KeyDesk;
  readonly readKeys: ReadKeyDesk;
  readonly agents: AgentDesk;
  /** Whose keys agents show. */
  readonly agentDirectory: AgentDirectory;
  readonly activity: Pick<AgentActivity, 'mark' | 'seen'>;
  readonly markets: MarketDirectory;
  readonly owners: Pick<WalletOwners, 'isOwnedBy' | 'isReserved'>;
  readonly notificationMarks: NotificationMarksDesk;
  readonly hashes: OrderHashes;
  readonly signatures: SignatureChecks;
  readonly partitions: PartitionView;
  readonly answers: AnswerMemory;
  readonly delays: DelayedOrders;
  readonly ledger: Reservations;
  readonly transfers: TransferWrites;
  readonly freezes: WithdrawalFreezeView;
  readonly retries: RetryKeys;
  readonly log: CommandLog;
  readonly sessions: Heartbeats;
  readonly social: SocialDesks;
  readonly metrics: DoorMetrics;
  /** Largest distance between the signed time of a private request and now, milliseconds. */
  readonly freshnessMs: number;
}
