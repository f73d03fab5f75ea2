import { BrokerLoop, type BrokerLoopParts } from './broker-loop.io.ts';
import type { FetchWire } from './fetch-wire.io.ts';
import type { PartitionLane } from './partition-lane.io.ts';
import { Wakeup } from './waiting.io.ts';
import { type Watchdog, watchdogChecks } from './watchdog.ts';

export interface FetchLoopParts extends BrokerLoopParts {
  readonly wire: BrokerLoopParts['wire'] & Pick<FetchWire, 'renew' | 'isAlone'>;
  /** On the monotonic clock of this process. */
  readonly watchdog: Watchdog;
}

/** Looks from one question to a lone broker who leads to the next. */
const aloneTurns = 5;

/** A loop that runs, and its end. */
interface RunningLoop {
  readonly loop: BrokerLoop;
  readonly ending: Promise<void>;
  /** When its broker last got new connections, or the loop began. */
  connectedMs: number;
}

/**
 * One loop per leading broker. Loops are started here alone, wherever lanes and leaders are compared: after every look
 * at the metadata, when lanes are added, at the end of each loop and at intervals. So no lane is without a loop, by
 * whatever request its leader became known. What the loops bring is watched lane by lane: for one without an answer its
 * broker is connected again, then its reader hears of it.
 */
export class FetchLoops {
  readonly #parts: FetchLoopParts;
  readonly #loops = new Map<string, RunningLoop>();
  /** Ends the wait for the next look at the leaders. */
  readonly #lookSoon = new Wakeup();
  #isLeaderless = false;
  #timer: NodeJS.Timeout | undefined;
  #open = true;

  constructor(parts: FetchLoopParts) {
    this.#parts = parts;
  }

  /** Compares lanes with leaders, and ends waits for room. Call after lanes or metadata changed. */
  refresh(): void {
    if (!this.#open) return;
    this.#supervise();
    const leaders = new Set(this.#leaders().values());
    for (const node of leaders) if (node !== null && !this.#loops.has(node)) this.#startLoop(node);
    for (const { loop } of this.#loops.values()) loop.wake();
    const isLeaderless = leaders.has(null);
    if (isLeaderless && !this.#isLeaderless) this.#lookSoon.wake();
    this.#isLeaderless = isLeaderless;
  }

  /** Ends the pauses after records: a caller waits for the next ones. */
  hurry(): void {
    for (const { loop } of this.#loops.values()) loop.hurry();
  }

  /** Resolves when no fetch is running. */
  async close(): Promise<void> {
    this.#open = false;
    clearInterval(this.#timer);
    this.#lookSoon.wake();
    for (const { loop } of this.#loops.values()) loop.wake();
    this.hurry();
    await Promise.all([...this.#loops.values()].map(({ ending }) => ending));
  }

  #startLoop(node: string): void {
    const loop = new BrokerLoop(node, this.#parts, () => this.#open);
    const ending = loop.run().finally(() => {
      this.#loops.delete(node);
      // Its lanes have gone to any broker, this one again included.
      this.refresh();
    });
    this.#loops.set(node, { loop, ending, connectedMs: performance.now() });
  }

  /** Begins with the first lanes and ends with `close`. */
  #supervise(): void {
    if (this.#timer !== undefined) return;
    const { stallMs } = this.#parts.limits;
    this.#timer = setInterval(() => this.#check(), stallMs / watchdogChecks);
    void this.#lookAtIntervals();
  }

  /**
   * A leader that was cut off from the other brokers may answer for ever with nothing new, so the leaders are looked up
   * although nothing fails. A lone broker is asked seldom: another one may have joined it.
   */
  async #lookAtIntervals(): Promise<void> {
    const { wire, limits } = this.#parts;
    for (let turn = 1; this.#open; turn += 1) {
      const waitMs = this.#isLeaderless ? limits.leaderLookMs : limits.leaderCheckMs;
      const isWoken = await this.#lookSoon.wait(waitMs);
      if (!this.#open || this.#leaders().size === 0) continue;
      const isSeldom = wire.isAlone() && !isWoken && !this.#isLeaderless;
      if (!isSeldom || turn % aloneTurns === 0) await wire.refresh().catch(() => {});
      this.refresh();
      for (const { loop } of this.#loops.values()) void loop.lookAtEnds();
    }
  }

  #check(): void {
    const { lanes, watchdog } = this.#parts;
    this.refresh();
    const { late, stalled } = watchdog.check(lanes);
    if (late.size > 0) this.#help(late);
    const leaders = this.#leaders();
    for (const { lane, silentMs } of stalled)
      lane.stalled({ node: leaders.get(lane) ?? null, silentMs });
  }

  /** A broker that answers for none of its lanes gets new connections. */
  #help(late: ReadonlySet<PartitionLane>): void {
    const { wire, log, limits } = this.#parts;
    const nowMs = performance.now();
    for (const [node, running] of this.#loops) {
      const waiting = running.loop.lanes().filter((lane) => lane.hasRoom());
      const isSilent = waiting.length > 0 && waiting.every((lane) => late.has(lane));
      if (!isSilent || nowMs - running.connectedMs < limits.stallMs / 2) continue;
      running.connectedMs = nowMs;
      log.warn({ node, lanes: waiting.length }, 'no fetch is answered, connecting again');
      void wire.renew(node).catch(() => {});
    }
    this.#lookSoon.wake();
  }

  /** The leader of each open lane by the newest metadata; null while its partition has none. */
  #leaders(): ReadonlyMap<PartitionLane, string | null> {
    const { lanes, wire } = this.#parts;
    const open = [...lanes].filter((lane) => lane.open);
    return new Map(
      open.map((lane) => [lane, wire.leaders(lane.topic).get(lane.partition) ?? null]),
    );
  }
}
