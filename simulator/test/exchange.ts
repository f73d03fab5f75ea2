import { createHash } from 'node:crypto';
import type { LogClient } from '@pm/kit/kafka';
import { hexBytes } from '@pm/schemas/ids';
import { Scheduler } from '../../kit/test/time/scheduler.ts';
import { MemoryFiles } from '../../matcher/test/partition/memory-files.ts';
import { DefectParts } from './defect-parts.ts';
import type { Defects } from './defects.ts';
import {
  codecs,
  ingressCount,
  openingRecords,
  partitionCount,
  startMs,
  topicNames,
  walletCount,
  walletOf,
} from './exchange-facts.ts';
import { Brokers } from './kafka/brokers.ts';
import { openModelClient } from './kafka/model-client.ts';
import { ModelGroups } from './kafka/model-groups.ts';
import { Answers } from './machines/answers.ts';
import { type Ingress, startIngress } from './machines/ingress-machine.ts';
import { startMatcher } from './machines/matcher-machine.ts';
import { OrderReads } from './machines/order-reads.ts';
import { startProjector } from './machines/projector-machine.ts';
import { Trader } from './machines/trader.ts';
import { LedgerServer } from './stores/ledger-server.ts';
import { TablesServer } from './stores/tables-server.ts';
import { Machine } from './time/machine.ts';
import { Network } from './time/network.ts';

export const roles = ['matcher', 'ingress', 'projector'] as const;
export type Role = (typeof roles)[number];

/** Places where a process of a role runs; when it dies another one starts there. */
export interface Slot {
  readonly role: Role;
  readonly number: number;
  machine: Machine;
  /** The disk of the place. */
  readonly files: MemoryFiles;
}

const slotsPerRole: Readonly<Record<Role, number>> = {
  matcher: 2,
  ingress: ingressCount,
  projector: 2,
};

/** Deposits of the wallets with even and with odd numbers: every second wallet is short of money most of the time. */
const depositsMicro = [3_000_000_000, 60_000_000] as const;

/** A whole exchange on one thread and on simulated time. */
export class Exchange {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly brokers: Brokers;
  readonly groups: ModelGroups;
  readonly ledger: LedgerServer;
  readonly tables: TablesServer;
  readonly answers = new Answers();
  readonly slots: Slot[] = [];
  readonly traders: Trader[] = [];
  readonly parts: DefectParts;
  /** The first thing that must never happen. */
  broken: unknown = null;
  crashes = 0;
  /** Faults that ended a process or a partition, by code. */
  readonly faults = new Map<string, number>();
  diskFailures = 0;
  isOpen = true;
  readonly #ingresses: (Ingress | null)[] = [];
  readonly #reads: OrderReads;
  #numbers = 0;

  constructor(seed: number, defects: Defects) {
    this.parts = new DefectParts(defects);
    this.scheduler = new Scheduler(seed, startMs);
    this.network = new Network(this.scheduler.random);
    this.brokers = new Brokers(this.scheduler, defects);
    this.#reads = new OrderReads(this.brokers);
    this.groups = new ModelGroups(this.scheduler, defects);
    this.ledger = new LedgerServer(defects);
    this.tables = new TablesServer(defects);
    this.#makeTopics();
  }

  start(): void {
    for (const role of roles)
      for (let number = 0; number < slotsPerRole[role]; number += 1) this.#addSlot(role, number);
    for (let number = 0; number < walletCount; number += 1) this.#addTrader(number);
  }

  /** The process in a slot dies; another one starts some time later. */
  crash(slot: Slot, downMs: number): void {
    if (!slot.machine.isAlive) return;
    slot.machine.kill();
    this.crashes += 1;
    if (slot.role === 'ingress') this.#ingresses[slot.number] = null;
    this.scheduler.after(downMs, null, () => this.#boot(slot));
  }

  count(code: string): void {
    this.faults.set(code, (this.faults.get(code) ?? 0) + 1);
  }

  break(what: unknown): void {
    this.broken ??= what;
  }

  #makeTopics(): void {
    const { brokers } = this;
    brokers.addTopic(topicNames.orders, partitionCount);
    brokers.addTopic(topicNames.executions, partitionCount);
    for (const topic of [topicNames.transfers, topicNames.deadLetters, topicNames.freezes])
      brokers.addTopic(topic, 1);
    for (let partition = 0; partition < partitionCount; partition += 1)
      for (const value of openingRecords(partition))
        this.#write(topicNames.orders, partition, value);
    for (let wallet = 0; wallet < walletCount; wallet += 1) this.#deposit(wallet);
  }

  #write(topic: string, partition: number, value: Buffer): void {
    const log = this.brokers.partition(topic, partition);
    log.write([{ topic, partition, key: null, value }], startMs);
    log.replicated(log.end);
  }

  #deposit(wallet: number): void {
    const transfer = {
      transferId: createHash('sha256').update(`deposit ${wallet}`).digest(),
      wallet: hexBytes(walletOf(wallet)),
      amountMicro: depositsMicro[wallet % 2] ?? 0,
      timeMs: startMs,
      generation: 0,
    };
    this.#write(topicNames.transfers, 0, codecs.transfers.encode(transfer));
  }

  #addSlot(role: Role, number: number): void {
    const machine = new Machine(`${role} ${number}`, this.scheduler, this.network);
    const slot = { role, number, machine, files: new MemoryFiles() };
    this.slots.push(slot);
    this.#boot(slot);
  }

  #boot(slot: Slot): void {
    const { role, number } = slot;
    const machine = new Machine(`${role} ${number}`, this.scheduler, this.network);
    machine.skewMs = slot.machine.skewMs;
    slot.machine = machine;
    machine.enter(() => {
      this.#run(slot, machine).catch((error: unknown) => this.#stopped(slot, machine, error));
    });
  }

  #run(slot: Slot, machine: Machine): Promise<unknown> {
    if (slot.role === 'matcher') return this.#runMatcher(slot, machine);
    if (slot.role === 'ingress') return this.#runIngress(slot, machine);
    return startProjector({
      machine,
      client: this.#client(machine),
      ledger: this.ledger.client(machine),
      tables: this.parts.tables(this.tables.client(machine)),
      onStop: (error) => this.#stopped(slot, machine, error),
      onBroken: (what) => this.break(new Error(what)),
    });
  }

  #runMatcher(slot: Slot, machine: Machine): Promise<unknown> {
    return startMatcher({
      machine,
      client: this.#client(machine),
      files: slot.files,
      diskFailures: () => this.diskFailures,
      onStop: (error) => this.#stopped(slot, machine, error),
      onFault: (_, error) => this.count(codeOf(error)),
      parts: this.parts,
    });
  }

  async #runIngress(slot: Slot, machine: Machine): Promise<void> {
    this.#ingresses[slot.number] = await startIngress({
      machine,
      slot: slot.number,
      client: this.#client(machine),
      ledger: this.ledger.client(machine),
      onStop: (fault) => this.#stopped(slot, machine, fault),
      parts: this.parts,
    });
  }

  /** A process that ends by itself is started again. */
  #stopped(slot: Slot, machine: Machine, error: unknown): void {
    this.count(`stopped ${slot.role}: ${codeOf(error)}`);
    // A defect, though the next process goes on.
    if (codeOf(error) === 'forbidden_transition') this.break(error);
    if (slot.machine === machine) this.crash(slot, 1_000);
  }

  #client(machine: Machine): LogClient {
    const { brokers, groups } = this;
    return openModelClient({ machine, brokers, groups });
  }

  #addTrader(number: number): void {
    const trader = new Trader({
      machine: new Machine(`trader ${number}`, this.scheduler, this.network),
      number,
      answers: this.answers,
      reads: this.#reads,
      parts: this.parts,
      ingresses: () => this.#ingresses.map((one) => (one?.machine.isAlive === true ? one : null)),
      nextNumber: () => {
        this.#numbers += 1;
        return this.#numbers;
      },
      isOpen: () => this.isOpen,
      onError: (error) => this.break(error),
    });
    this.traders.push(trader);
  }
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : String(error);
}
