import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { bookJson } from '@pm/schemas/http/book-hash';
import { type WebSocket, WebSocketServer } from 'ws';
import { type FakeLog, type History, type Message, marketOf } from './fake-exchange-log.ts';

/** Chances that something happens to one frame. */
export interface Faults {
  readonly cut: number;
  readonly drop: number;
  readonly duplicate: number;
  /** The connection stays open and sends nothing any more. */
  readonly stall: number;
}

export const noFaults: Faults = { cut: 0, drop: 0, duplicate: 0, stall: 0 };

type Frame = Readonly<Record<string, unknown>> & { readonly op: string; readonly id: number };

interface Followed {
  readonly channel: string;
  readonly key: string;
  readonly head: Readonly<Record<string, unknown>>;
  readonly history: History;
  /** Last message sent. */
  seq: number;
}

interface Peer {
  readonly socket: WebSocket;
  readonly followed: Map<string, Followed>;
  isStalled: boolean;
  isAuthenticated: boolean;
}

const checksumEvery = 10;

/** A stream service on a real socket that loses, repeats and withholds frames, and cuts connections. */
export class FakeStreamServer {
  readonly log: FakeLog;
  /** Auth frames received. */
  readonly proofs: Frame[] = [];
  readonly counts = { connections: 0, cuts: 0, drops: 0, duplicates: 0, stalls: 0, merges: 0 };
  faults: Faults = noFaults;
  /** Messages of a channel that can be sent again; older ones are gone. */
  retained = Number.POSITIVE_INFINITY;
  /** Checksums that are sent are wrong. */
  hasWrongChecksums = false;
  epoch = 'aaaaaaaaaaaaaaaa';
  /** Its clock minus that of the client. */
  aheadMs = 0;
  /** Rows of partitions in each heartbeat. */
  partitions: { readonly partition: number; readonly live: boolean }[] = [];
  /** Answers of the next subscribe frames. */
  refusals: { readonly code: string; readonly retryable: boolean }[] = [];
  readonly #random: () => number;
  readonly #server: WebSocketServer;
  readonly #peers = new Set<Peer>();
  readonly #heartbeats: ReturnType<typeof setInterval>;

  private constructor(log: FakeLog, random: () => number, heartbeatMs: number) {
    this.log = log;
    this.#random = random;
    this.#server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/v1/stream' });
    this.#server.on('connection', (socket) => this.#accept(socket));
    this.#heartbeats = setInterval(() => this.#beat(), heartbeatMs);
  }

  static async open(
    log: FakeLog,
    random: () => number,
    heartbeatMs = 20,
  ): Promise<FakeStreamServer> {
    const fake = new FakeStreamServer(log, random, heartbeatMs);
    await new Promise<void>((resolve) => fake.#server.once('listening', resolve));
    return fake;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connected(): number {
    return this.#peers.size;
  }

  get subscriptions(): number {
    return [...this.#peers].reduce((sum, { followed }) => sum + followed.size, 0);
  }

  /** Changes something and sends it to those who follow it. */
  step(): void {
    const { history } = this.log.step();
    for (const peer of this.#peers) {
      for (const one of peer.followed.values()) {
        // Sometimes a message waits and is sent merged with the next one.
        if (one.history === history && (one.channel !== 'book' || this.#random() < 0.8)) {
          this.#catchUp(peer, one);
        }
      }
    }
  }

  cutAll(): void {
    for (const { socket } of this.#peers) socket.terminate();
  }

  closeAll(code: number, reason: string): void {
    for (const { socket } of this.#peers) socket.close(code, reason);
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeats);
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: WebSocket): void {
    this.counts.connections += 1;
    const peer: Peer = { socket, followed: new Map(), isStalled: false, isAuthenticated: false };
    this.#peers.add(peer);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#peers.delete(peer));
    socket.on('message', (data) => this.#receive(peer, JSON.parse(String(data)) as Frame));
    const partitions = this.log.own.map(({ partition }) => {
      return { partition, epoch: this.epoch, offset: 1 };
    });
    const time = Date.now() + this.aheadMs;
    this.#plain(peer, { type: 'welcome', stream_id: 's-1', time, partitions });
  }

  #receive(peer: Peer, frame: Frame): void {
    if (peer.isStalled) return;
    if (frame.op === 'auth') {
      this.proofs.push(frame);
      peer.isAuthenticated = true;
      this.#plain(peer, { type: 'authenticated', id: frame.id, wallet: '0x00' });
    }
    if (frame.op === 'subscribe') this.#subscribe(peer, frame);
    if (frame.op === 'unsubscribe') this.#unsubscribe(peer, frame);
  }

  #subscribe(peer: Peer, frame: Frame): void {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) {
      this.#plain(peer, { type: 'error', id: frame.id, message: 'refused', ...refusal });
      return;
    }
    const found = this.#wanted(frame);
    const keys = found.map(({ key, seq }) => ({ key, seq }));
    this.#plain(peer, { type: 'subscribed', id: frame.id, channel: frame['channel'], keys });
    const from = [frame['from'] ?? []].flat() as { seq: number; partition?: number }[];
    for (const one of found) {
      peer.followed.set(nameOf(one), one);
      const start = from.find(
        ({ partition }) => partition === undefined || partition === one.history.partition,
      );
      const isGone = start !== undefined && one.history.seq - start.seq > this.retained;
      if (start === undefined || isGone) {
        one.seq = one.history.seq;
        this.#send(peer, snapshotOf(one, isGone));
      } else {
        one.seq = start.seq;
        this.#catchUp(peer, one);
      }
    }
  }

  #wanted(frame: Frame): Followed[] {
    const channel = String(frame['channel']);
    const followed = (key: string, history: History | undefined, head: object): Followed[] =>
      history === undefined ? [] : [{ channel, key, history, seq: 0, head: { channel, ...head } }];
    if (channel === 'own') {
      return this.log.own.flatMap((history) => followed('0x00', history, { wallet: '0x00' }));
    }
    if (channel === 'book') {
      return (frame['tokens'] as string[]).flatMap((token) =>
        followed(token, this.log.books.get(token), { market: marketOf(token), token }),
      );
    }
    return (frame['markets'] as string[]).flatMap((market) =>
      followed(market, this.log.trades.get(market), { market }),
    );
  }

  #unsubscribe(peer: Peer, frame: Frame): void {
    const keys = [frame['tokens'], frame['markets']].flat();
    for (const [name, { channel, key }] of peer.followed) {
      if (channel === frame['channel'] && (channel === 'own' || keys.includes(key))) {
        peer.followed.delete(name);
      }
    }
    this.#plain(peer, { type: 'unsubscribed', id: frame.id, channel: frame['channel'], keys: [] });
  }

  /** Sends what is missing: book messages that waited as one. */
  #catchUp(peer: Peer, one: Followed): void {
    const missing = one.history.messages.slice(one.seq);
    one.seq = one.history.seq;
    const last = missing.at(-1);
    if (
      one.channel === 'book' &&
      missing.length > 1 &&
      last !== undefined &&
      this.#random() < 0.5
    ) {
      this.counts.merges += 1;
      this.#send(peer, { type: 'delta', ...one.head, ...mergedOf(missing, last), merged: true });
    } else {
      const type = one.channel === 'book' ? 'delta' : 'event';
      for (const message of missing) this.#send(peer, { type, ...one.head, ...message });
    }
    if (one.channel === 'book' && last !== undefined && last.seq % checksumEvery === 0) {
      this.#send(peer, this.#checksumOf(one, last));
    }
  }

  #checksumOf(one: Followed, { seq, at, time }: Message): Record<string, unknown> {
    const { bids, asks } = this.log.bookOf(one.key);
    const beside = { timestamp: String(time), neg_risk: false, last_trade_price: '0.5' };
    const market = marketOf(one.key);
    const answer = { market, assetId: one.key, bids, asks, timestamp: beside.timestamp };
    const rules = { minOrderSize: '5', tickSize: '0.01', negRisk: false, lastTradePrice: '0.5' };
    const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');
    const { hash } = JSON.parse(bookJson({ ...answer, ...rules }, sha1)) as { hash: string };
    return {
      type: 'checksum',
      ...one.head,
      seq,
      at,
      time,
      ...beside,
      min_order_size: '5',
      tick_size: '0.01',
      hash: this.hasWrongChecksums ? hash.replace(/./g, '0') : hash,
    };
  }

  #beat(): void {
    for (const peer of this.#peers) {
      for (const one of peer.followed.values()) this.#catchUp(peer, one);
      const subscriptions = [...peer.followed.values()].map(({ channel, key, seq, history }) => {
        return {
          channel,
          key,
          seq,
          ...(channel === 'own' ? { partition: history.partition } : {}),
        };
      });
      this.#plain(peer, { type: 'heartbeat', partitions: this.partitions, subscriptions });
    }
  }

  /** A frame that faults may hit. */
  #send(peer: Peer, frame: Record<string, unknown>): void {
    const { cut, drop, duplicate, stall } = this.faults;
    const chance = this.#random();
    if (chance < cut && !peer.isStalled && peer.socket.readyState === peer.socket.OPEN) {
      this.counts.cuts += 1;
      peer.socket.terminate();
    } else if (chance < cut + drop) {
      this.counts.drops += 1;
    } else if (chance < cut + drop + stall) {
      this.counts.stalls += peer.isStalled ? 0 : 1;
      peer.isStalled = true;
    } else {
      this.#plain(peer, frame);
      if (chance > 1 - duplicate) {
        this.counts.duplicates += 1;
        this.#plain(peer, frame);
      }
    }
  }

  #plain(peer: Peer, frame: Record<string, unknown>): void {
    if (!peer.isStalled && peer.socket.readyState === peer.socket.OPEN) {
      peer.socket.send(JSON.stringify(frame));
    }
  }
}

function nameOf({ channel, key, history }: Followed): string {
  return `${channel} ${key} ${history.partition}`;
}

function snapshotOf(one: Followed, isGap: boolean): Record<string, unknown> {
  const { history, head } = one;
  const at = { partition: history.partition, offset: history.seq * 3, index: -1 };
  const state = history.states[history.seq] ?? {};
  const gap = isGap ? { gap: true } : {};
  return { type: 'snapshot', ...head, seq: history.seq, at, time: 1, ...gap, ...state };
}

/** The newest total of each level. */
function mergedOf(messages: readonly Message[], last: Message): Message {
  const newest = new Map<string, unknown>();
  for (const { levels } of messages) {
    for (const level of levels as { side: string; price: string }[]) {
      newest.set(`${level.side} ${level.price}`, level);
    }
  }
  return { ...last, prev: messages[0]?.prev ?? last.prev, levels: [...newest.values()] };
}
