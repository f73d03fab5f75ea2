import type { WelcomeFrame } from '@pm/schemas/streams/server-frames';
import { signal } from '@preact/signals';
import { origin } from '../api.ts';
import {
  type Message,
  nameOf,
  nameOfMessage,
  orderOf,
  type Subscription,
  subscribeFrame,
  unsubscribeFrame,
} from './frames.ts';

/**
 * `idle`: no page follows anything; `live`: messages arrive; `away`: there is no stream at the moment and pages read in
 * rounds.
 */
export const streamState = signal<'idle' | 'connecting' | 'live' | 'away'>('idle');

interface Entry {
  readonly subscription: Subscription;
  readonly take: (message: Message) => void;
  /** `seq` of the newest message; null before the first. */
  last: number | null;
}

/** A server that says nothing for so long is gone, milliseconds; it sends a heartbeat each second. */
const silentMaxMs = 5_000;
const pausesMs = [500, 1_000, 2_000, 5_000, 15_000];

/** One connection for all subscriptions of the page; it resumes each after its newest message. */
class Stream {
  readonly #entries = new Map<string, Entry>();
  #socket: WebSocket | null = null;
  #failures = 0;
  #frames = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #authFrame: ((streamId: string, nowMs: number) => object) | null = null;

  /** Messages of a subscription, until the returned function is called. One subscriber per key. */
  subscribe(subscription: Subscription, take: (message: Message) => void): () => void {
    const name = nameOf(subscription);
    const entry = { subscription, take, last: null };
    this.#entries.set(name, entry);
    if (streamState.value === 'live')
      this.#send(subscribeFrame(this.#nextId(), subscription, null));
    else this.#connect();
    return () => {
      if (this.#entries.get(name) !== entry) return;
      this.#entries.delete(name);
      if (streamState.value === 'live') this.#send(unsubscribeFrame(this.#nextId(), subscription));
    };
  }

  /** Proves a key on this and later connections, at the time of the exchange; null proves none from the next one on. */
  authenticate(frame: ((streamId: string, nowMs: number) => object) | null): void {
    this.#authFrame = frame;
    this.#socket?.close(1000);
  }

  #connect(): void {
    if (this.#socket !== null) return;
    clearTimeout(this.#again);
    if (this.#entries.size === 0) {
      this.#rest();
      return;
    }
    if (streamState.value === 'idle') streamState.value = 'connecting';
    const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}/v1/stream`);
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#take(socket, String(data));
    socket.onclose = () => this.#lost(socket);
    this.#expectFrame();
  }

  #take(socket: WebSocket, text: string): void {
    if (socket !== this.#socket) return;
    this.#expectFrame();
    const frame = JSON.parse(text) as WelcomeFrame | Message;
    if (frame.type === 'welcome') this.#open(frame);
    else if (['snapshot', 'delta', 'event'].includes(frame.type)) this.#pass(frame as Message);
  }

  #open({ stream_id, time }: WelcomeFrame): void {
    this.#failures = 0;
    streamState.value = 'live';
    const proof = this.#authFrame?.(stream_id, time);
    if (proof !== undefined) this.#send({ ...proof, id: this.#nextId() });
    for (const { subscription, last } of this.#entries.values()) {
      this.#send(subscribeFrame(this.#nextId(), subscription, last));
    }
  }

  #pass(message: Message): void {
    const entry = this.#entries.get(nameOfMessage(message));
    if (entry === undefined) return;
    // Changes of `own` are signals to read again: their numbers count per partition.
    const order = entry.subscription.channel === 'own' ? 'use' : orderOf(message, entry.last);
    if (order === 'skip') return;
    if (order === 'gap') {
      this.#restart(entry);
      return;
    }
    if (entry.subscription.channel !== 'own') entry.last = message.seq;
    entry.take(message);
  }

  /** A message is missing: the subscription begins again with a snapshot. */
  #restart(entry: Entry): void {
    entry.last = null;
    this.#send(unsubscribeFrame(this.#nextId(), entry.subscription));
    this.#send(subscribeFrame(this.#nextId(), entry.subscription, null));
  }

  #lost(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    clearTimeout(this.#silence);
    if (this.#entries.size === 0) {
      this.#rest();
      return;
    }
    const pauseMs = pausesMs[Math.min(this.#failures, pausesMs.length - 1)] ?? 0;
    this.#failures += 1;
    streamState.value = this.#failures > 1 ? 'away' : 'connecting';
    this.#again = setTimeout(() => this.#connect(), pauseMs);
  }

  /** No page follows anything: the next subscription connects. */
  #rest(): void {
    this.#failures = 0;
    streamState.value = 'idle';
  }

  #expectFrame(): void {
    clearTimeout(this.#silence);
    const socket = this.#socket;
    this.#silence = setTimeout(() => {
      socket?.close(1000);
      if (socket !== null) this.#lost(socket);
    }, silentMaxMs);
  }

  #send(frame: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #nextId(): number {
    this.#frames += 1;
    return this.#frames;
  }
}

export const stream = new Stream();
