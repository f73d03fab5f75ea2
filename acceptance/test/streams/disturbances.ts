import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '@pm/kit/random';
import { streamCloses } from '@pm/schemas/streams/codes';
import { untilNone, type WholeExchange } from '../whole-exchange.ts';
import type { CuttingProxy } from './cutting-proxy.ts';
import type { RawReader } from './raw-reader.ts';

/** Processes that are killed, in this order and again; `freeze` stops the process of the readers instead. */
const killed = ['streams', 'matcher', 'streams-2', 'freeze', 'kafka'] as const;

/** Between two kills, and between two cuts, milliseconds. */
const betweenKills = { least: 1_000, most: 2_500 };
const betweenCuts = { least: 200, most: 900 };
/** Longer than the streams hold connections without the log, on any machine. */
const brokerAwayMaxMs = 180_000;
const freezeMs = 4_000;
const stallChance = 0.15;
const stallMs = { least: 1_000, most: 6_000 };

/** Disturbances of the exchange and of its readers. */
export interface Disturbed {
  readonly cuts: number;
  readonly stalls: number;
  readonly kills: readonly string[];
}

/** Cuts and stalls connections and kills processes, by the random numbers of a seed. */
export class Disturbances {
  readonly #exchange: WholeExchange;
  readonly #proxy: CuttingProxy;
  readonly #readers: readonly RawReader[];
  readonly #random: Random;
  readonly #kills: string[] = [];
  #cuts = 0;
  #stalls = 0;
  #isOver = false;

  constructor(
    exchange: WholeExchange,
    parts: {
      readonly proxy: CuttingProxy;
      readonly readers: readonly RawReader[];
      readonly random: Random;
    },
  ) {
    this.#exchange = exchange;
    this.#proxy = parts.proxy;
    this.#readers = parts.readers;
    this.#random = parts.random;
  }

  /** Resolves when `cuts` connections were cut, and each process was killed `rounds` times and is ready again. */
  async run(cuts: number, rounds: number): Promise<Disturbed> {
    const names = Array.from({ length: rounds }, () => killed).flat();
    try {
      await Promise.all([this.#cutAll(cuts, names.length), this.#killAll(names)]);
    } finally {
      this.stop();
    }
    return { cuts: this.#cuts, stalls: this.#stalls, kills: this.#kills };
  }

  /** Nothing more is cut or killed. */
  stop(): void {
    this.#isOver = true;
  }

  async #cutAll(cuts: number, kills: number): Promise<void> {
    const random = this.#random;
    while (!this.#isOver && (this.#cuts < cuts || this.#kills.length < kills)) {
      await wait(random.integer(betweenCuts.least, betweenCuts.most));
      if (random.chance(stallChance)) this.#stall();
      if (this.#proxy.cut()) this.#cuts += 1;
    }
  }

  /** A network that stands still, or a reader that does. */
  #stall(): void {
    const random = this.#random;
    const durationMs = random.integer(stallMs.least, stallMs.most);
    this.#stalls += 1;
    if (random.chance(0.5)) this.#proxy.stall(durationMs);
    else random.pick(this.#readers).stall(durationMs);
  }

  async #killAll(names: readonly (typeof killed)[number][]): Promise<void> {
    const random = this.#random;
    for (const name of names) {
      await wait(random.integer(betweenKills.least, betweenKills.most));
      if (this.#isOver) return;
      if (name === 'freeze') standStill(freezeMs);
      else if (name === 'kafka') await this.#exchange.killBroker(() => this.#untilLogAway());
      else await this.#exchange.kill(name);
      this.#kills.push(name);
    }
  }

  /** Resolves when a reader has been closed because the log is away: the broker comes back no earlier. */
  #untilLogAway(): Promise<void> {
    const { code } = streamCloses.logAway;
    const unseen = async () =>
      this.#readers.some(({ closes }) => closes.has(code)) ? [] : [`a close ${code}`];
    return untilNone('the log is away', unseen, brokerAwayMaxMs);
  }
}

/** Stops the clock of this process, with all its readers and traders. */
function standStill(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}
