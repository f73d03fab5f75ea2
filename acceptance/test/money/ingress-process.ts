import { DelayedResults } from '@pm/domain/commands/delayed-results.io';
import { EnvelopeSender, isCertainlyUnsent } from '@pm/domain/commands/envelope-sender.io';
import { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import { RecentResults } from '@pm/domain/commands/recent-results-cache';
import {
  type CommandResult,
  type FinalResult,
  ResultWaiters,
} from '@pm/domain/commands/result-waiters';
import { ResultReader } from '@pm/domain/commands/results.io';
import { TransferWriter } from '@pm/domain/commands/transfer-writer.io';
import type { Reservation, ReserveResult } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { Keccak } from '@pm/domain/orders/eip712';
import type { Reservations } from '@pm/domain/orders/reservation.io';
import type { SignOffKey } from '@pm/domain/signoff/keys';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { Execution } from '@pm/schemas/log/executions';
import { OrderSubmitter } from '../../../ingress/src/orders/submit.io.ts';
import type { ParkedCalls } from './parked-calls.ts';
import { type SimulatedLog, topicNames } from './simulated-log.ts';

/** Log, ledger and calls that the ingress processes of a history share. */
export interface SharedByIngress {
  readonly log: SimulatedLog;
  readonly calls: ParkedCalls;
  readonly ledger: Ledger;
  readonly keccak: Keccak;
  /** Result of a reservation as the process receives it. */
  reserved(reservation: Reservation, result: ReserveResult): ReserveResult;
  nowMs(): number;
}

/** How long a command is waited for, milliseconds. */
const resultWaitMs = 1_000;

/** A pause of this process takes so long: it is a busy machine. */
const pauseMs = 1_500;

/**
 * A process of ingress: the real use cases of orders, positions and withdrawals, the real envelopes and the real reader
 * of results, between parked calls. HTTP, signatures and the encoding of records are left out.
 */
export class IngressProcess {
  readonly clock: Clock;
  readonly ledger: Reservations;
  readonly transfers: TransferWriter;
  readonly commands: { run(partition: number, command: SentCommand): Promise<CommandResult> };
  readonly partitions: Pick<PartitionLiveness, 'at' | 'isReady'>;
  readonly submitter: OrderSubmitter;
  readonly #shared: SharedByIngress;
  readonly #waiters = new ResultWaiters();
  readonly #envelopes: EnvelopeSender;
  readonly #results: ResultReader;
  readonly #readTo: number[];
  #expiring: { readonly atMs: number; expire(): void }[] = [];
  #pausedMs = 0;

  /** `number` is new with every start of a process; `skewMs` is how far its wall clock is off. */
  constructor(shared: SharedByIngress, number: number, skewMs: number) {
    this.#shared = shared;
    const { log, calls, keccak } = shared;
    this.#readTo = log.partitions.map(({ output }) => output.length);
    this.clock = {
      nowMs: () => shared.nowMs() + skewMs,
      monotonicMs: () => shared.nowMs() + this.#pausedMs,
    };
    this.ledger = this.#parkedLedger();
    const keyId = Buffer.alloc(8);
    keyId.writeUInt32BE(number);
    let sequence = 1;
    this.#envelopes = new EnvelopeSender({
      producer: log.producer(this, 'send', calls),
      topic: topicNames.orders,
      nextSequence: () => sequence++,
      seal: (envelope) => log.encode({ ...envelope, keyId, signature: noSignature }),
    });
    this.commands = { run: (partition, command) => this.#run(partition, command) };
    this.transfers = new TransferWriter({
      producer: log.producer(this, 'transfer', calls),
      topic: topicNames.transfers,
      codec: { encode: (transfer: Transfer) => log.encode(transfer) },
    });
    const channel = {
      take: (partition: number, execution: Execution) => this.#waiters.settle(partition, execution),
    };
    const recentResults = new RecentResults({ bytesMax: 1_000_000, seed: 1 });
    const clocksMs = log.partitions.map(({ output }) => output.at(-1)?.timeMs ?? 0);
    recentResults.begin(new Map(clocksMs.entries()));
    // Nobody waits: what is read later is a step of the history.
    const readOffsets = new ReadOffsets(new Map(this.#readTo.entries()), 0);
    const delayedResults = new DelayedResults();
    const liveness = new PartitionLiveness(log.partitions.keys(), this.clock);
    this.partitions = { isReady: () => true, at: (partition) => liveness.at(partition) };
    this.#results = new ResultReader({
      codec: log.reader<Execution>(),
      channels: new Map([[keyId.toString('hex'), channel]]),
      partitions: liveness,
      recentResults,
      readOffsets,
      delayedResults,
      fundedWallets: { take() {} },
      extremePrices: { note() {} },
      witness: { see() {} },
    });
    this.submitter = new OrderSubmitter({
      clock: this.clock,
      recentResults,
      readOffsets,
      delayedResults,
      partitions: this.partitions,
      ledger: this.ledger,
      commands: this.commands,
      hashes: { keccak },
      metrics: { stage() {} },
      authentication: { freshness: { secondsMs: 300_000, millisecondsMs: 30_000 } },
      unfunded: { waitSeconds: () => null, refused() {} },
      unconfirmed: { follow() {} },
    });
  }

  /** A wait of this process: it ends when the history says so. */
  pause = (): Promise<void> => {
    const { calls } = this.#shared;
    const after = async () => {
      this.#pausedMs += pauseMs;
    };
    return calls.park({ label: 'pause', process: this }, after);
  };

  /** Reads what is new on `executions`, and gives up on commands that have waited too long. */
  async read(): Promise<void> {
    const { log } = this.#shared;
    for (const [partition, { output }] of log.partitions.entries()) {
      const from = this.#readTo[partition] ?? 0;
      const records = output.slice(from).map((execution, index) => ({
        offset: from + index,
        key: null,
        value: log.encode(execution),
        timestampMs: 0,
      }));
      this.#readTo[partition] = output.length;
      const { executions: topic } = topicNames;
      await this.#results.onBatch({ topic, partition, records, highWatermark: output.length });
    }
    const nowMs = this.#shared.nowMs();
    for (const { atMs, expire } of this.#expiring) if (atMs <= nowMs) expire();
    this.#expiring = this.#expiring.filter(({ atMs }) => atMs > nowMs);
  }

  /** As `CommandSender`, with the time of the history. */
  #run(partition: number, command: SentCommand): Promise<CommandResult> {
    const ticket = this.#envelopes.add(partition, command);
    if (ticket === null) return Promise.resolve({ kind: 'unsent', code: 'overloaded' });
    const { sequence, command: index } = ticket;
    const waiting = { partition, sequence, index, command };
    return new Promise((resolve) => {
      const conclude = (result: CommandResult | FinalResult) => {
        this.#waiters.remove(waiting);
        // One process sends under a key here, so that no envelope is outrun.
        resolve(result.kind === 'outrun' ? { kind: 'rejected' } : result);
      };
      this.#waiters.add(waiting, conclude);
      const expire = () => conclude({ kind: 'pending' });
      this.#expiring.push({ atMs: this.#shared.nowMs() + resultWaitMs, expire });
      const onFailure = (error: unknown) => {
        if (isCertainlyUnsent(error)) conclude({ kind: 'unsent', code: 'internal_error' });
      };
      ticket.sent.then((offset) => this.#waiters.locate(sequence, offset), onFailure);
    });
  }

  #parkedLedger(): Reservations {
    const { calls, ledger, log, reserved } = this.#shared;
    const parked = <T>(label: string, run: () => Promise<T>): Promise<T> => {
      // A call that has timed out for its caller may still be carried out.
      const later = () => void log.late.push(run);
      const call = { label, process: this, afterDeath: later };
      return calls.park(call, run, () => new Fault('redis_unavailable', 'retry'));
    };
    return {
      reserve: (one) => parked('reserve', async () => reserved(one, await ledger.reserve(one))),
      reserveWithdrawal: (one) => parked('reserveWithdrawal', () => ledger.reserveWithdrawal(one)),
      cancelReservation: (send) => parked('cancelSend', () => ledger.cancelReservation(send)),
      appliedTransfer: (id) => parked('appliedTransfer', () => ledger.appliedTransfer(id)),
      balance: (wallet) => ledger.balance(wallet),
    };
  }
}

type SentCommand = Parameters<EnvelopeSender['add']>[1];

const noSignature = Buffer.alloc(64);

/** Only its id is used: records are not signed here. */
export const unusedKey: SignOffKey = {
  keyId: Buffer.alloc(8, 5),
  publicKey: Buffer.alloc(32, 5),
  sign: () => Buffer.alloc(0),
} as unknown as SignOffKey;
