import type { Scheduler } from '../../time/scheduler.ts';
import type { FetchedResult } from './broker-requests.ts';
import type { Cluster } from './cluster.ts';
import type { GroupEvents } from './group-model.ts';
import { sessionMs } from './limits.ts';
import type { Machine } from './machine.ts';

/** A broken promise, and when. */
export interface Finding {
  readonly kind: string;
  readonly text: string;
  readonly atMs: number;
}

/** A member that loses its session has been disturbed within so many of them. */
const excuseMs = 4 * sessionMs;
/** Two members of one process may overlap so long. */
const overlapMs = 3 * sessionMs;
const recentMs = 700;
const findingsMax = 20;

/** Events that the brokers see, and checks of the promises that can be judged from them. */
export class Observer implements GroupEvents {
  readonly findings: Finding[] = [];
  readonly #scheduler: Scheduler;
  readonly #startMs: number;
  cluster: Cluster | null = null;
  /** Until when single requests go wrong. */
  wireTroubledMs = Number.NEGATIVE_INFINITY;
  /** Until when single heartbeats go wrong. */
  heartbeatTroubledMs = Number.NEGATIVE_INFINITY;
  /** Until when producers cannot write. */
  writeTroubledMs = Number.NEGATIVE_INFINITY;
  /** Newest member of each process, and when it became one. */
  readonly newest = new Map<Machine, { memberId: string; sinceMs: number }>();
  /** When a process has to be silent. */
  readonly silentFromMs = new Map<Machine, number>();
  readonly #heard = new Map<Machine, Map<string, number>>();
  readonly #counted = new Map<Machine, number>();
  readonly #twoSinceMs = new Map<Machine, number>();
  readonly #fetched = new Map<string, { ms: number; node: number }>();
  readonly #told = new Set<string>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#startMs = scheduler.nowMs;
  }

  broken(kind: string, text: string): void {
    const told = `${kind} ${text.replaceAll(/\d+/g, '#')}`;
    if (this.#told.has(told) || this.findings.length >= findingsMax) return;
    this.#told.add(told);
    this.findings.push({ kind, text, atMs: Math.round(this.#scheduler.nowMs - this.#startMs) });
  }

  /** A request has come. */
  asked(machine: Machine): void {
    const silentMs = this.silentFromMs.get(machine);
    if (silentMs !== undefined && this.#scheduler.nowMs > silentMs)
      this.broken('goes on after close', `${machine.name} asks after it was closed`);
  }

  fetched({ name }: Machine, node: number, { topic, partition }: FetchedResult): void {
    this.#fetched.set(`${name} ${topic}/${partition}`, { ms: this.#scheduler.nowMs, node });
  }

  /** The newest fetch of a partition that was answered without an error. */
  lastFetch({ name }: Machine, key: string): { ms: number; node: number } | null {
    return this.#fetched.get(`${name} ${key}`) ?? null;
  }

  /** `isFormer`: by a broker that does not know yet that another one coordinates. */
  heard(machine: Machine, memberId: string, isFormer: boolean): void {
    const members = this.#heard.get(machine) ?? new Map<string, number>();
    if (!isFormer) this.#counted.set(machine, this.#scheduler.nowMs);
    this.#heard.set(machine, members.set(memberId, this.#scheduler.nowMs));
  }

  /** When the broker that coordinates heard any member of a process last. */
  counted(machine: Machine): number {
    return this.#counted.get(machine) ?? Number.NEGATIVE_INFINITY;
  }

  lastHeardMs(machine: Machine, memberId: string): number {
    return this.#heard.get(machine)?.get(memberId) ?? Number.NEGATIVE_INFINITY;
  }

  /** Members of a process that were heard a moment ago. */
  speaking(machine: Machine): string[] {
    const sinceMs = this.#scheduler.nowMs - recentMs;
    const members = [...(this.#heard.get(machine) ?? [])];
    return members.filter(([, heardMs]) => heardMs > sinceMs).map(([memberId]) => memberId);
  }

  /** No process is two members for long. */
  checkMembers(machine: Machine): void {
    const { nowMs } = this.#scheduler;
    const speaking = this.speaking(machine);
    if (speaking.length < 2) this.#twoSinceMs.set(machine, nowMs);
    const sinceMs = this.#twoSinceMs.get(machine) ?? nowMs;
    this.#twoSinceMs.set(machine, sinceMs);
    if (nowMs - sinceMs > overlapMs)
      this.broken('two members', `${machine.name} sends heartbeats as ${speaking.join(' and ')}`);
  }

  expired(memberId: string, machine: Machine, settledMs: number): void {
    const { cluster } = this;
    const { nowMs } = this.#scheduler;
    const newest = this.newest.get(machine);
    if (cluster === null || newest?.memberId !== memberId || !machine.isAlive) return;
    const sinceMs = nowMs - excuseMs;
    const troubles = [
      cluster.coordinatorTroubledMs,
      this.wireTroubledMs,
      this.heartbeatTroubledMs,
      machine.disturbedMs,
      newest.sinceMs,
      // kafkajs asks any broker who coordinates before it joins again, and waits for it.
      settledMs,
    ];
    if (troubles.some((ms) => ms > sinceMs) || this.silentFromMs.has(machine)) return;
    if (cluster.node(cluster.coordinator).isSound)
      this.broken('session lost without a cause', `${machine.name} was not heard for a session`);
  }
}
