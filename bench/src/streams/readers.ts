import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Beats } from './beats.ts';
import { frameKind } from './frame-kind.ts';
import type { ReadersJob, ReadersResult } from './readers-job.ts';

/** Subscriptions that are asked for at a time: a service that answers thousands of them takes no other connection. */
const keysAtOnce = 500;
const opensAtOnceMax = 50;
const openTimeoutMs = 60_000;
/** A service that is asked for too much at once says so, and the client comes again. */
const triesMax = 5;
const retryMs = 500;
const lookEveryMs = 20;

interface Reader {
  readonly index: number;
  readonly frames: readonly object[];
  readonly reads: boolean;
  /** Snapshots that come before the first message. */
  readonly snapshots: number;
  messages: number;
}

/** Connections that subscribe, count messages and watch heartbeats; nothing is parsed. */
export class Readers {
  readonly #job: ReadersJob;
  readonly #readers: readonly Reader[];
  readonly #closed: Record<string, number> = {};
  readonly #texts: string[] = [];
  /** Connections that have not got all their messages yet. */
  #unfinished: number;
  #beats: Beats;
  #retries = 0;

  constructor(job: ReadersJob) {
    this.#job = job;
    const all = job.groups.flatMap(({ count, frames: sets, keys, reads }) =>
      Array.from({ length: count }, (_, at) => {
        const frames = sets[at % sets.length] ?? [];
        return { frames, reads, snapshots: reads && frames.length > 0 ? keys : 0 };
      }),
    );
    this.#readers = all.map((one, index) => ({ ...one, index, messages: 0 }));
    this.#unfinished = this.#readers.length;
    this.#beats = new Beats(this.#readers.length, performance.now());
  }

  /** Resolves when every connection is subscribed; rejects when one is not in time. */
  async open(): Promise<void> {
    let from = 0;
    for (const { count, keys } of this.#job.groups) {
      const waiting = this.#readers.slice(from, from + count);
      from += count;
      const openSome = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
          await this.#openWithRetries(next);
      };
      const atOnce = Math.max(1, Math.min(opensAtOnceMax, Math.floor(keysAtOnce / keys)));
      await Promise.all(Array.from({ length: atOnce }, openSome));
    }
  }

  /** Watches until the end that the job says. */
  async watch(): Promise<ReadersResult> {
    const { seconds, messages } = this.#job;
    const untilMs = performance.now() + seconds * 1_000;
    this.#beats = new Beats(this.#readers.length, performance.now());
    while (performance.now() < untilMs && (messages === null || this.#unfinished > 0)) {
      await sleep(lookEveryMs);
    }
    const gaps = this.#beats.longestGaps(performance.now());
    const reading = this.#readers.filter(({ reads }) => reads);
    const counts = reading.map((reader) => reader.messages);
    return {
      messages: counts.reduce((sum, count) => sum + count, 0),
      fewest: counts.reduce((least, count) => Math.min(least, count), Number.POSITIVE_INFINITY),
      most: counts.reduce((most, count) => Math.max(most, count), 0),
      gapsMs: reading.map(({ index }) => gaps[index] ?? Number.NaN),
      closed: this.#closed,
      retries: this.#retries,
      texts: this.#texts,
    };
  }

  async #openWithRetries(reader: Reader): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      try {
        await this.#open(reader);
        return;
      } catch (error) {
        if (tried === triesMax) throw error;
        this.#retries += 1;
        await sleep(retryMs);
      }
    }
  }

  #open(reader: Reader): Promise<void> {
    const { url, perAddress } = this.#job;
    const localAddress = addressOf(Math.floor(reader.index / perAddress));
    const options = { localAddress, perMessageDeflate: false, skipUTF8Validation: true };
    const socket = new WebSocket(url, options);
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        socket.terminate();
        reject(error);
      };
      const late = () => fail(new Error('a reader is not subscribed'));
      const timer = setTimeout(late, openTimeoutMs);
      let left = reader.frames.length + reader.snapshots;
      const ready = () => {
        clearTimeout(timer);
        if (!reader.reads) socket.pause();
        resolve();
      };
      socket.on('open', () => {
        for (const frame of reader.frames) socket.send(JSON.stringify(frame));
        if (left === 0) ready();
      });
      socket.on('message', (bytes: Buffer) => {
        const kind = this.#take(reader, bytes);
        const isExpected = kind === 'subscribed' || (kind === 'snapshot' && reader.reads);
        if (!isExpected || left === 0) return;
        left -= 1;
        if (left === 0) ready();
      });
      socket.on('error', fail);
      socket.on('close', (code) => {
        if (left === 0) this.#closed[code] = (this.#closed[code] ?? 0) + 1;
        else fail(new Error(`a reader was closed with ${code}`));
      });
    });
  }

  #take(reader: Reader, bytes: Buffer) {
    const kind = frameKind(bytes);
    if (kind === 'heartbeat') this.#beats.beat(reader.index, performance.now());
    if (kind !== 'data') return kind;
    reader.messages += 1;
    if (reader.messages === this.#job.messages) this.#unfinished -= 1;
    if (reader.index === 0 && this.#job.keepsTexts) this.#texts.push(bytes.toString());
    return kind;
  }
}

/** Addresses of this machine's loopback, one for each number: 127.1.0.1 and on. */
function addressOf(number: number): string {
  return `127.1.${Math.floor(number / 250)}.${(number % 250) + 1}`;
}
