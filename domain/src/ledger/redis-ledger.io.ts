import { randomBytes } from 'node:crypto';
import { assert } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import {
  type DefinedScript,
  defineScript,
  type RedisClient,
  type ScriptArgument,
} from '@pm/kit/redis';
import type { WalletAddress } from '@pm/schemas/ids';
import { withdrawalLateMs } from '@pm/schemas/log/accounts';
import type { RedisKeys } from '@pm/schemas/redis/keys';
import type { FoldedPlace } from '../executions/execution-order.ts';
import type { Ledger } from './ledger.io.ts';
import {
  type AppliedTransfer,
  type ApplyResult,
  type Balance,
  type ExecutionsPiece,
  insolventPerCallMax,
  type LedgerState,
  type LedgerTopic,
  ledgerCallItemsMax,
  type MarketBreach,
  type MarketChange,
  orphanMarginMs,
  orphansPerCallMax,
  type RebuildPlan,
  type Reservation,
  type ReserveOutcome,
  type ReserveResult,
  type Send,
  sendersMax,
  type TransfersPiece,
  type TransfersResult,
  type UnpaidWithdrawal,
  type VoidWithdrawal,
  type WithdrawalReservation,
  type WithdrawalResult,
  withdrawalsLane,
} from './ledger.ts';
import {
  acknowledgeBreachLua,
  applyExecutionsLua,
  applyTransfersLua,
  cancelLua,
  closeLua,
  insolventLua,
  isOfEarlierLifeLua,
  openLua,
  planLua,
  releaseWithdrawalsLua,
  reserveLua,
  reserveWithdrawalLua,
} from './ledger-lua.ts';
import { type Part, partsOf, sumMoves } from './parts.ts';
import {
  assertSpan,
  exactNumber,
  isAmount,
  outcomeOf,
  readApplied,
  readBreach,
  readUnpaid,
  type ScriptResult,
  type Span,
} from './script-results.ts';

/** Opens the ledger under these keys. Every method rejects with the faults of `openRedis` besides its own. */
export function openLedger(redis: RedisClient, keys: RedisKeys): Ledger {
  return new RedisLedger(redis, keys);
}

class RedisLedger implements Ledger {
  readonly #redis: RedisClient;
  readonly #keys: RedisKeys;
  readonly #reserve: DefinedScript<readonly [ReserveOutcome, generation: string, mark: string]>;
  readonly #cancel: DefinedScript<number>;
  readonly #applyExecutions: DefinedScript<ScriptResult>;
  readonly #applyTransfers: DefinedScript<ScriptResult>;
  readonly #reserveWithdrawal: DefinedScript<
    readonly [WithdrawalResult['outcome'], string, applied?: string]
  >;
  readonly #insolvent: DefinedScript<readonly WalletAddress[]>;
  readonly #acknowledgeBreach: DefinedScript<number>;
  readonly #releaseWithdrawals: DefinedScript<number>;
  readonly #close: DefinedScript<number>;
  readonly #plan: DefinedScript<readonly [id?: string, generation?: string]>;
  readonly #open: DefinedScript<number>;
  readonly #isOfEarlierLife: DefinedScript<number>;

  /** Prefix of sender names, so that those of several processes differ. */
  readonly #senderPrefix = randomBytes(6).toString('hex');
  #sends = 0;

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#redis = redis;
    this.#keys = keys;
    this.#reserve = defineScript(redis, 'ledgerReserve', reserveLua, 4);
    this.#cancel = defineScript(redis, 'ledgerCancel', cancelLua, 2);
    this.#applyExecutions = defineScript(redis, 'ledgerApplyExecutions', applyExecutionsLua, 7);
    this.#applyTransfers = defineScript(redis, 'ledgerApplyTransfers', applyTransfersLua, 6);
    this.#reserveWithdrawal = defineScript(redis, 'ledgerReserveOut', reserveWithdrawalLua, 7);
    this.#releaseWithdrawals = defineScript(redis, 'ledgerReleaseOut', releaseWithdrawalsLua, 2);
    this.#insolvent = defineScript(redis, 'ledgerInsolvent', insolventLua, 2);
    this.#acknowledgeBreach = defineScript(redis, 'ledgerBreachDone', acknowledgeBreachLua, 1);
    this.#close = defineScript(redis, 'ledgerClose', closeLua, 1);
    this.#plan = defineScript(redis, 'ledgerPlan', planLua, 1);
    this.#open = defineScript(redis, 'ledgerOpen', openLua, 3);
    this.#isOfEarlierLife = defineScript(redis, 'ledgerLife', isOfEarlierLifeLua, 1);
  }

  async reserve(reservation: Reservation): Promise<ReserveResult> {
    const { orderId, wallet, amountMicro, partition, kind, market, acceptedAtMs } = reservation;
    assert(isAmount(amountMicro), 'a reservation is a safe amount');
    const { ledgerState, pending, ledgerMarks } = this.#keys;
    const sender = this.#nextSender();
    const [outcome, generation, mark] = await this.#reserve.run(
      [ledgerState, pending, this.#keys.waiting(partition), this.#keys.wallet(wallet)],
      [
        orderId,
        amountMicro,
        acceptedAtMs,
        `${wallet} ${partition} ${kind} ${market}`,
        sender,
        sendersMax,
        ledgerMarks,
        this.#keys.ledgerMarkOf(partition),
      ],
    );
    return { outcome, generation: Number(generation), sender, mark: exactNumber(mark) };
  }

  async reserveWithdrawal(withdrawal: WithdrawalReservation): Promise<WithdrawalResult> {
    const { transferId, wallet, amountMicro, acceptedAtMs } = withdrawal;
    assert(isAmount(amountMicro) && amountMicro > 0, 'a withdrawal is a safe amount above 0');
    const { ledgerState, pending, ledgerTransfers, ledgerInsolvent, ledgerBreaches } = this.#keys;
    const waiting = this.#keys.waiting(withdrawalsLane);
    const findings = [ledgerInsolvent, ledgerBreaches];
    const purpose = `${wallet} ${withdrawalsLane} withdrawal 0`;
    const sender = this.#nextSender();
    const [outcome, generation, applied] = await this.#reserveWithdrawal.run(
      [ledgerState, pending, waiting, this.#keys.wallet(wallet), ledgerTransfers, ...findings],
      [transferId, amountMicro, acceptedAtMs, purpose, sender, sendersMax, wallet],
    );
    if (applied === undefined)
      return { outcome, generation: Number(generation), sender, paidMicro: 0 };
    const done = readApplied(applied);
    const isSame = done.wallet === wallet && done.amountMicro === -amountMicro;
    const nothing = { generation: 0, sender };
    if (!isSame) return { ...nothing, outcome: 'conflict', paidMicro: 0 };
    return { ...nothing, outcome: 'applied', paidMicro: Math.abs(done.movedMicro) };
  }

  async appliedTransfer(transferId: string): Promise<AppliedTransfer | null> {
    const entry = await this.#redis.hget(this.#keys.ledgerTransfers, transferId);
    return entry === null ? null : readApplied(entry);
  }

  async newestWithdrawal(beforeMs: number): Promise<number | null> {
    const waiting = this.#keys.waiting(withdrawalsLane);
    const newest = ['WITHSCORES', 'LIMIT', 0, 1] as const;
    const before = `(${beforeMs}`;
    const [, acceptedAtMs] = await this.#redis.zrevrangebyscore(waiting, before, '-inf', ...newest);
    return acceptedAtMs === undefined ? null : exactNumber(acceptedAtMs);
  }

  async releaseWithdrawals(beforeMs: number): Promise<number> {
    const keys = [this.#keys.pending, this.#keys.waiting(withdrawalsLane)];
    const args = [this.#keys.walletPrefix, beforeMs, orphansPerCallMax];
    return await this.#releaseWithdrawals.run(keys, args);
  }

  async cancelReservation({ id, partition, sender }: Send): Promise<boolean> {
    const keys = [this.#keys.pending, this.#keys.waiting(partition)];
    const args = [id, sender, this.#keys.walletPrefix, partition];
    return (await this.#cancel.run(keys, args)) === 1;
  }

  async insolventWallets(): Promise<readonly WalletAddress[]> {
    const keys = [this.#keys.ledgerState, this.#keys.ledgerInsolvent];
    return await this.#insolvent.run(keys, [insolventPerCallMax]);
  }

  async acknowledgeInsolvent(wallet: WalletAddress): Promise<void> {
    await this.#redis.srem(this.#keys.ledgerInsolvent, wallet);
  }

  async marketBreaches(): Promise<readonly MarketBreach[]> {
    const { ledgerBreaches } = this.#keys;
    const pairs = await this.#redis.hrandfield(ledgerBreaches, insolventPerCallMax, 'WITHVALUES');
    const fields = pairs as readonly string[] | null;
    return (fields ?? []).flatMap((market, at, all) =>
      at % 2 === 0 ? [readBreach(market, all[at + 1] ?? '')] : [],
    );
  }

  async acknowledgeBreach({ market, entry }: MarketBreach): Promise<void> {
    await this.#acknowledgeBreach.run([this.#keys.ledgerBreaches], [market, entry]);
  }

  async applyExecutions(piece: ExecutionsPiece): Promise<ApplyResult> {
    const { partition, fromOffset, toOffset } = piece;
    assertSpan(piece);
    const parts = partsOf(piece.answered, sumMoves(piece.moves));
    if (parts.length > 1 && toOffset - fromOffset > 1) {
      const facts = { partition, fromOffset, toOffset, itemsMax: ledgerCallItemsMax };
      throw new Fault('ledger_batch_too_large', 'stop', { facts });
    }
    const span: Span = { topic: 'executions', partition, fromOffset, toOffset };
    let outcome: ApplyResult = 'repeated';
    for (const [index, part] of parts.entries()) {
      const args = this.#executionsArguments(piece, { index, count: parts.length, part });
      const answer = await this.#applyExecutions.run(this.#executionsKeys(partition), args);
      if (outcomeOf(answer, span) === 'applied') outcome = 'applied';
    }
    return outcome;
  }

  async applyTransfers(piece: TransfersPiece): Promise<TransfersResult> {
    const { fromOffset, toOffset, transfers } = piece;
    assertSpan(piece);
    assert(transfers.length === toOffset - fromOffset, 'one record of transfers is one transfer');
    let outcome: ApplyResult = 'repeated';
    const unpaid: UnpaidWithdrawal[] = [];
    const voided: VoidWithdrawal[] = [];
    for (let from = fromOffset; from < toOffset; from += ledgerCallItemsMax) {
      const to = Math.min(from + ledgerCallItemsMax, toOffset);
      const field = 'transfers:0';
      const args: ScriptArgument[] = [this.#keys.walletPrefix, field, from, to, withdrawalLateMs];
      for (const one of transfers.slice(from - fromOffset, to - fromOffset)) {
        assert(Number.isSafeInteger(one.amountMicro), 'a transfer is a safe integer');
        args.push(one.transferId, one.wallet, one.amountMicro, one.generation, one.timeMs);
      }
      const answer = await this.#applyTransfers.run(this.#transfersKeys, args);
      const span: Span = { topic: 'transfers', partition: 0, fromOffset: from, toOffset: to };
      if (outcomeOf(answer, span) === 'repeated') continue;
      outcome = 'applied';
      const left = readUnpaid(answer.slice(2));
      unpaid.push(...left.unpaid);
      voided.push(...left.voided);
    }
    return { outcome, unpaid, voided };
  }

  async balance(wallet: WalletAddress): Promise<Balance> {
    const found = await this.#redis.hmget(this.#keys.wallet(wallet), 'free', 'held', 'pending');
    const [freeMicro = 0, heldMicro = 0, pendingMicro = 0] = found.map((text) => exactNumber(text));
    return { freeMicro, heldMicro, pendingMicro, availableMicro: freeMicro - pendingMicro };
  }

  async mark(topic: LedgerTopic, partition: number): Promise<number> {
    return exactNumber(await this.#redis.hget(this.#keys.ledgerMarks, `${topic}:${partition}`));
  }

  async place(partition: number): Promise<FoldedPlace> {
    const { ledgerMarks, ledgerMarkOf, ledgerClockOf } = this.#keys;
    const fields = [ledgerMarkOf(partition), ledgerClockOf(partition)];
    const [mark = null, clock = null] = await this.#redis.hmget(ledgerMarks, ...fields);
    return { offset: exactNumber(mark), timeMs: exactNumber(clock) };
  }

  async marks(partitions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    if (partitions.length === 0) return new Map();
    const { ledgerMarks, ledgerMarkOf } = this.#keys;
    const found = await this.#redis.hmget(ledgerMarks, ...partitions.map(ledgerMarkOf));
    return new Map(partitions.map((partition, at) => [partition, exactNumber(found[at] ?? null)]));
  }

  async generation(topic: LedgerTopic, partition: number): Promise<number> {
    const field = `${topic}:${partition}:generation`;
    return exactNumber(await this.#redis.hget(this.#keys.ledgerMarks, field));
  }

  async close(): Promise<void> {
    await this.#close.run([this.#keys.ledgerState], []);
  }

  async planRebuild(plan: RebuildPlan): Promise<RebuildPlan | null> {
    const args = [plan.id, plan.generation];
    const [id, generation] = await this.#plan.run([this.#keys.ledgerState], args);
    if (id === undefined || generation === undefined) return null;
    return { id, generation: exactNumber(generation) };
  }

  async open({ id, generation }: RebuildPlan, partitions: readonly number[]): Promise<boolean> {
    const { ledgerState, ledgerMarks } = this.#keys;
    const places = partitions.map((partition) => this.#keys.ledgerMarkOf(partition));
    const args = [id, generation, 'transfers:0', ...places];
    const scriptKeys = [ledgerState, ledgerMarks, this.#keys.ledgerInsolvent];
    return (await this.#open.run(scriptKeys, args)) === 1;
  }

  async isOfEarlierLife(): Promise<boolean> {
    return (await this.#isOfEarlierLife.run([this.#keys.ledgerState], [])) === 1;
  }

  async state(): Promise<LedgerState> {
    const [generation = null, ready] = await this.#redis.hmget(
      this.#keys.ledgerState,
      'generation',
      'ready',
    );
    return { generation: exactNumber(generation), ready: ready === '1' };
  }

  #executionsKeys(partition: number): readonly string[] {
    const { ledgerMarks, pending, ledgerState, ledgerInsolvent } = this.#keys;
    const { ledgerMarkets, ledgerBreaches } = this.#keys;
    const waiting = this.#keys.waiting(partition);
    const wallets = [ledgerState, ledgerInsolvent];
    return [ledgerMarks, pending, waiting, ...wallets, ledgerMarkets, ledgerBreaches];
  }

  /** The keys of the script; ids of applied transfers stay for ever, one entry for each deposit and withdrawal. */
  get #transfersKeys(): readonly string[] {
    const { ledgerMarks, ledgerTransfers, pending, ledgerState, ledgerInsolvent } = this.#keys;
    const waiting = this.#keys.waiting(withdrawalsLane);
    return [ledgerMarks, ledgerTransfers, pending, waiting, ledgerState, ledgerInsolvent];
  }

  #nextSender(): string {
    this.#sends += 1;
    return `${this.#senderPrefix}${this.#sends.toString(36)}`;
  }

  #executionsArguments(
    piece: ExecutionsPiece,
    { index, count, part }: { index: number; count: number; part: Part },
  ): ScriptArgument[] {
    const { partition, fromOffset, toOffset, clockMs, bookAgeLimitMs } = piece;
    const orphansBeforeMs = clockMs - bookAgeLimitMs - orphanMarginMs;
    const span = [
      this.#keys.ledgerMarkOf(partition),
      partition,
      fromOffset,
      toOffset,
      index,
      count,
    ];
    const orphans = [orphansBeforeMs, orphansPerCallMax, piece.generation, clockMs];
    const moves = part.moves.flatMap((move) => [move.wallet, move.freeMicro, move.heldMicro]);
    // All at once, with the mark: between the parts of a record the sums of a market need not agree.
    const markets = index + 1 === count ? piece.markets : [];
    return [
      this.#keys.walletPrefix,
      ...span,
      ...orphans,
      part.answered.length,
      markets.length,
      ...part.answered,
      ...markets.flatMap(marketArguments),
      ...moves,
    ];
  }
}

function marketArguments(change: MarketChange): ScriptArgument[] {
  const { market, token0Micro, token1Micro, lockedMicro, payout0, suspects } = change;
  return [market, token0Micro, token1Micro, lockedMicro, payout0 ?? '', suspects.join(',')];
}
