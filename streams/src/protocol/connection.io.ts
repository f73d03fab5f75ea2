import type { KeyVerifier } from '@pm/domain/accounts/key-verifier';
import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';
import { streamProofPath } from '@pm/schemas/streams/channels';
import type {
  AuthFrame,
  ClientFrame,
  SubscribeFrame,
  UnsubscribeFrame,
} from '@pm/schemas/streams/client-frames';
import {
  blamelessErrors,
  type CloseReason,
  type StreamCloseName,
  type StreamErrorCode,
  streamErrors,
} from '@pm/schemas/streams/codes';
import { streamHeartbeatMs, streamLimits } from '@pm/schemas/streams/limits';
import type { ServerFrame } from '@pm/schemas/streams/server-frames';
import type { KeepAlive, KeepAlives } from '../own/keep-alive.io.ts';
import { isPing } from '../read-object.ts';
import { KeyProof } from './key-proof.io.ts';
import { readFrame } from './read-frame.ts';
import { ReaderSocket, type ReaderSocketParts, type SocketReader } from './reader-socket.io.ts';
import type { StreamSocket } from './stream-socket.io.ts';
import type { StreamWriter } from './stream-writer.io.ts';
import { type SubscriptionParts, Subscriptions } from './subscriptions.io.ts';

/** Data and services that all connections of the process share. */
export interface ConnectionParts extends SubscriptionParts, ReaderSocketParts {
  readonly verify: KeyVerifier;
  readonly keepAlives: KeepAlives;
  onClosed(connection: Connection, reason: StreamCloseName | 'left'): void;
}

const noBody = Buffer.alloc(0);

/** One WebSocket of `/v1/stream`. */
export class Connection implements SocketReader {
  readonly id: string;
  readonly address: string;
  readonly #socket: ReaderSocket;
  readonly #parts: ConnectionParts;
  readonly #writer: StreamWriter;
  readonly #subscriptions: Subscriptions;
  #keepAlive: KeepAlive | null = null;
  #isHeartbeatWaiting = false;
  readonly #proof: KeyProof;

  constructor(
    socket: StreamSocket,
    { id, address }: { readonly id: string; readonly address: string },
    parts: ConnectionParts,
  ) {
    this.id = id;
    this.address = address;
    this.#parts = parts;
    this.#proof = new KeyProof(parts.clock);
    this.#socket = new ReaderSocket(socket, parts, this);
    this.#writer = this.#socket.writer;
    this.#subscriptions = new Subscriptions(parts, {
      replayer: this,
      writer: this.#writer,
      failed: (frameId, code) => {
        this.#noteIdle();
        this.#refuse(frameId, code);
      },
    });
    this.#welcome();
  }

  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Whether it reads something of a partition. */
  reads(partition: number): boolean {
    return this.#subscriptions.reads(partition);
  }

  /** Whether it is to have all partitions of something. */
  get readsAll(): boolean {
    return this.#subscriptions.readsAll;
  }

  /** Once a second: the heartbeat with the shared part of its frame, and what time brings to an end. */
  tick(shared: string): void {
    this.#subscriptions.tick();
    if (this.#socket.tick()) this.#heartbeat(shared);
  }

  /** Sends the closing frame and closes with its code; nothing follows. */
  close(name: StreamCloseName): void {
    this.#socket.close(name);
  }

  /** Closes the connection when a partition starts over: its log may be another one, where positions are void. */
  closeVoid(partition: number): void {
    this.#subscriptions.voidPositions(partition);
    this.#socket.close('logAway');
  }

  /** The closing frame, with the positions from which subscriptions can go on. */
  lastFrame({ code, reason, isResumable }: CloseReason): string {
    const resume = isResumable ? this.#subscriptions.resumable() : [];
    const frame: ServerFrame = { type: 'closing', code, reason, resume: [...resume] };
    return JSON.stringify(frame);
  }

  ended(reason: StreamCloseName | 'left'): void {
    this.#proof.stop();
    this.#subscriptions.endAll();
    this.#keepAlive?.release();
    this.#parts.onClosed(this, reason);
  }

  take(text: string): void {
    const frame = readFrame(text);
    if (frame.op !== null) this.#act(frame);
    else if (isPing(text)) this.#writer.answer({ type: 'pong', id: frame.id });
    else this.#refuse(frame.id, frame.code);
  }

  refuse(code: 'too_many_frames' | 'not_json'): void {
    this.#refuse(null, code);
  }

  #welcome(): void {
    const { clock, feed } = this.#parts;
    this.#writer.answer({
      type: 'welcome',
      stream_id: this.id,
      time: clock.nowMs(),
      heartbeat_ms: streamHeartbeatMs,
      limits: streamLimits,
      partitions: feed
        .partitions()
        .map(({ partition, epoch, offset }) => ({ partition, epoch, offset })),
    });
  }

  #act(frame: ClientFrame): void {
    switch (frame.op) {
      case 'subscribe':
        this.#subscribe(frame);
        return;
      case 'unsubscribe':
        this.#unsubscribe(frame);
        return;
      case 'auth':
        this.#authenticate(frame);
        return;
      case 'checksum': {
        const code = this.#subscriptions.sendChecksums(frame.tokens);
        if (code !== null) this.#refuse(frame.id, code);
        return;
      }
      case 'ping':
        this.#writer.answer({ type: 'pong', id: frame.id });
        return;
    }
  }

  #refuse(id: number | null, code: StreamErrorCode): void {
    const { message, isRetryable: retryable } = streamErrors[code];
    this.#writer.answer({ type: 'error', id, code, message, retryable });
    if (blamelessErrors.has(code)) return;
    this.#socket.countWrongFrame();
  }

  get #wallet(): WalletAddress | null {
    return this.#socket.holder?.wallet ?? null;
  }

  #subscribe(frame: SubscribeFrame): void {
    const code = this.#subscriptions.add(frame, this.#wallet);
    this.#noteIdle();
    if (code !== null) this.#refuse(frame.id, code);
  }

  #unsubscribe(frame: UnsubscribeFrame): void {
    const keys = this.#subscriptions.end(frame, this.#wallet);
    this.#noteIdle();
    if (typeof keys === 'string') this.#refuse(frame.id, keys);
    else this.#writer.answer({ type: 'unsubscribed', id: frame.id, channel: frame.channel, keys });
  }

  #noteIdle(): void {
    this.#socket.noteSubscribed(this.#subscriptions.size > 0);
  }

  #authenticate({ id, headers, cancel_on_disconnect: isCanceling = false }: AuthFrame): void {
    if (this.#socket.holder !== null || this.#proof.isWaiting) {
      this.#refuse(id, 'already_authenticated');
      return;
    }
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    // Another connection, or another option, makes it the proof of another request.
    const url = streamProofPath({ streamId: this.id, cancelOnDisconnect: isCanceling });
    const proof = { method: 'GET', url, body: noBody, headers: Object.fromEntries(lower) };
    const verify = () => {
      const holder = this.#parts.verify(proof);
      return holder?.covers.query === true ? holder : null;
    };
    this.#proof.start(verify, {
      proven: (holder) => {
        if (!this.#socket.hold(holder)) return;
        if (isCanceling) this.#keepAlive = this.#parts.keepAlives.hold(holder, this.address);
        this.#writer.answer({ type: 'authenticated', id, wallet: checksumAddress(holder.wallet) });
      },
      unproven: () => this.#refuse(id, 'unauthorized'),
    });
  }

  /** A heartbeat is made when it is sent, so that it says what was sent before it; one waits at most. */
  #heartbeat(shared: string): void {
    if (this.#isHeartbeatWaiting) return;
    this.#isHeartbeatWaiting = true;
    this.#writer.addHeartbeat(() => {
      this.#isHeartbeatWaiting = false;
      return Buffer.from(`${shared},"subscriptions":[${this.#subscriptions.positions()}]}`);
    });
  }
}
