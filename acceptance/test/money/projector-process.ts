import { ledgerCallItemsMax } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { Fault } from '@pm/kit/fault';
import type { OutgoingRecord } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import { walletFromBytes } from '@pm/schemas/ids';
import type { Transfer, WithdrawalFreeze } from '@pm/schemas/log/accounts';
import type { Envelope } from '@pm/schemas/log/orders';
import { closeIfLost } from '../../../projectors/src/ledger/executions-view.io.ts';
import { LedgerGenerations } from '../../../projectors/src/ledger/generations.io.ts';
import { OrphanedWithdrawals } from '../../../projectors/src/ledger/orphaned-withdrawals.io.ts';
import { moneyPieces } from '../../../projectors/src/ledger/pieces.ts';
import { SolvencyCheck } from '../../../projectors/src/ledger/solvency-check.io.ts';
import { transfersView } from '../../../projectors/src/ledger/transfers-view.io.ts';
import { unusedKey } from './ingress-process.ts';
import { BrokenMoney } from './plain-ledger.ts';
import { type SimulatedLog, topicNames } from './simulated-log.ts';

const bookAgeLimitMs = 2_000;

interface ProjectorParts {
  readonly log: SimulatedLog;
  readonly ledger: Ledger;
  /** Freezes that the solvency check has written. */
  readonly frozen: Map<WalletAddress, WithdrawalFreeze>;
  nowMs(): number;
}

/** The ledger's part of projectors: the real cut into pieces, the real checks, and the real fold of transfers. */
export class ProjectorProcess {
  readonly #generations: LedgerGenerations;
  readonly #orphans: OrphanedWithdrawals;
  readonly #solvency: SolvencyCheck;
  readonly #parts: ProjectorParts;
  readonly #positions: (number | null)[];
  #transfersPosition: number | null = null;
  #isOpen = false;

  constructor(parts: ProjectorParts) {
    this.#parts = parts;
    const { log, ledger, nowMs } = parts;
    this.#positions = log.partitions.map(() => null);
    const producer = {
      send: async (records: readonly OutgoingRecord[]) => records.map((one) => log.append(one)),
    };
    const encode = (value: Envelope | Transfer) => log.encode(value);
    const shared = { ledger, producer, log: silentLog, nowMs };
    this.#generations = new LedgerGenerations({
      ...shared,
      admin: { bounds: async (topic) => this.#bounds(topic) },
      codecs: { orders: { encode, fingerprint: Buffer.alloc(32) }, transfers: { encode } },
      key: unusedKey,
      topics: topicNames,
      foldAgain: async () => this.#forgetPositions(),
      onState: (isOpen) => {
        this.#isOpen = isOpen;
      },
    });
    const topic = topicNames.transfers;
    this.#orphans = new OrphanedWithdrawals({ ...shared, codec: { encode }, topic });
    this.#solvency = new SolvencyCheck({
      ...shared,
      producer: { send: async () => [] },
      codec: { encode: (freeze) => this.#freeze(freeze) },
      topic: 'withdrawal-freezes',
      onBreach() {},
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** A round of all its checks. */
  async check(): Promise<void> {
    await this.#generations.check();
    await this.#orphans.check();
    await this.#solvency.check();
  }

  /** Folds the next records of a partition, at most so many; `isAnswered` is false where the answer is lost. */
  async fold(partition: number, count: number, isAnswered = true): Promise<void> {
    const { ledger, log } = this.#parts;
    const from = this.#positions[partition] ?? (await ledger.mark('executions', partition));
    const { output } = log.at(partition);
    const records = output.slice(from, from + count).map((execution, index) => ({
      offset: from + index,
      execution,
    }));
    this.#positions[partition] = null;
    for (const piece of moneyPieces(records, ledgerCallItemsMax)) {
      const clockMs = piece.clockMs ?? 0;
      const applied = ledger.applyExecutions({ ...piece, clockMs, partition, bookAgeLimitMs });
      if (!(await this.#isApplied(applied))) return;
    }
    if (isAnswered) this.#positions[partition] = from + records.length;
  }

  async foldTransfers(count: number, isAnswered = true): Promise<void> {
    const { ledger, log } = this.#parts;
    const view = transfersView({
      ledger,
      codec: log.reader<Transfer>(),
      topic: topicNames.transfers,
      groupId: 'transfers',
      log: silentLog,
      onUnpaid() {
        throw new BrokenMoney('a withdrawal was not paid in full');
      },
      onVoid() {},
    });
    const projection = await view.assign(0, group);
    const from = this.#transfersPosition ?? projection.from;
    this.#transfersPosition = null;
    const records = log.transfers.slice(from, from + count).map((transfer, index) => ({
      offset: from + index,
      key: null,
      value: log.encode(transfer),
      timestampMs: 0,
    }));
    if (records.length === 0) return;
    const batch = { topic: topicNames.transfers, partition: 0, records, highWatermark: 0 };
    const isApplied = await this.#isApplied(projection.project(batch));
    if (isApplied && isAnswered) this.#transfersPosition = from + records.length;
  }

  /** A gap means that the ledger has moved or was lost; the fold then begins at its mark. */
  async #isApplied(applied: Promise<unknown>): Promise<boolean> {
    try {
      await applied.catch((error: unknown) => closeIfLost(this.#parts.ledger, error));
      return true;
    } catch (error) {
      if (error instanceof Fault && error.code === 'ledger_gap') return false;
      throw error;
    }
  }

  #forgetPositions(): void {
    this.#positions.fill(null);
    this.#transfersPosition = null;
  }

  #bounds(topic: string): Map<number, { low: number; high: number }> {
    const { partitions, transfers } = this.#parts.log;
    if (topic === topicNames.transfers) return new Map([[0, { low: 0, high: transfers.length }]]);
    return new Map(partitions.map(({ output }, index) => [index, { low: 0, high: output.length }]));
  }

  #freeze(freeze: WithdrawalFreeze): Buffer {
    this.#parts.frozen.set(walletFromBytes(freeze.wallet), freeze);
    return Buffer.alloc(0);
  }
}

const group = {
  commit: async () => {},
  committed: async () => null,
  fail() {},
  stored() {},
} as unknown as Parameters<ReturnType<typeof transfersView>['assign']>[1];
