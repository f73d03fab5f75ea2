import { EventEmitter } from 'node:events';
import type { Scheduler } from '../../time/scheduler.ts';
import { FrameReader } from '../frame-reader.ts';
import type { Machine } from './machine.ts';

/** The end of a connection at a broker. */
export interface ServerEnd {
  readonly machine: Machine;
  write(bytes: Buffer): void;
  close(isReset: boolean): void;
}

/** Treatment of connections by a broker. */
export interface Server {
  /** Null where nobody listens; otherwise it takes the frames, and learns of the end. */
  accept(end: ServerEnd): { frame(bytes: Buffer): void; ended(): void } | null;
}

/** How `net.connect` is called by the sources. */
interface Target {
  readonly host: string;
  readonly port: number;
  readonly onread: {
    readonly buffer: Uint8Array;
    callback(bytes: number, buffer: Uint8Array): boolean;
  };
}

const pieceBytes = 32 << 10;

/** Connections between processes and brokers, in memory and on virtual time. */
export class MemoryNetwork {
  readonly #scheduler: Scheduler;
  readonly #servers = new Map<string, Server>();
  readonly #open = new Set<MemorySocket>();
  /** Longest usual delay of a message, milliseconds. */
  delayMs = 2;
  /** Connections that were opened so far. */
  opened = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  listen(host: string, server: Server): void {
    this.#servers.set(host, server);
  }

  connect(target: Target, onConnect: () => void): MemorySocket {
    const socket = new MemorySocket(this.#scheduler, this, target);
    socket.once('connect', onConnect);
    this.#open.add(socket);
    this.opened += 1;
    const server = this.#servers.get(target.host);
    this.#scheduler.after(this.delay(), null, () => socket.meet(server));
    return socket;
  }

  /** Connections of a process that are open. */
  openOf(machine: Machine): number {
    return [...this.#open].filter((socket) => socket.machine === machine).length;
  }

  /** The end of a process. */
  cut(machine: Machine): void {
    for (const socket of [...this.#open]) if (socket.machine === machine) socket.destroy();
  }

  closed(socket: MemorySocket): void {
    this.#open.delete(socket);
  }

  delay(): number {
    return 0.1 + this.#scheduler.random.next() * this.delayMs;
  }
}

/** A socket as far as kafkajs uses one. What it sends and gets keeps its order. */
export class MemorySocket extends EventEmitter {
  readonly machine: Machine;
  readonly #scheduler: Scheduler;
  readonly #network: MemoryNetwork;
  readonly #target: Target;
  #peer: { frame(bytes: Buffer): void; ended(): void } | null = null;
  #frames = new FrameReader((frame) => this.#peer?.frame(Buffer.from(frame)));
  #sentMs = 0;
  #gotMs = 0;
  #isOpen = true;
  #isConnected = false;
  #isEnding = false;
  destroyed = false;

  constructor(scheduler: Scheduler, network: MemoryNetwork, target: Target) {
    super();
    this.machine = scheduler.current as Machine;
    this.#scheduler = scheduler;
    this.#network = network;
    this.#target = target;
  }

  get readyState(): string {
    return this.#isOpen ? 'open' : 'closed';
  }

  /** The other end takes the connection, or nobody is there. */
  meet(server: Server | undefined): void {
    if (!this.#isOpen) return;
    const end: ServerEnd = {
      machine: this.machine,
      write: (bytes) => this.#arrive(bytes),
      close: (isReset) => this.#closedByPeer(isReset),
    };
    this.#peer = server?.accept(end) ?? null;
    if (this.#peer === null) this.#later(() => this.#fail('ECONNREFUSED'));
    else
      this.#later(() => {
        this.#isConnected = true;
        this.emit('connect');
        if (this.#isEnding) this.#finish();
      });
  }

  write(bytes: Uint8Array): boolean {
    if (!this.#isOpen || this.#isEnding) {
      this.machine.enter(() => void this.emit('error', new Error('write after end')));
      return false;
    }
    const copy = Buffer.from(bytes);
    this.#send(() => this.#frames.push(copy));
    return true;
  }

  end(): void {
    if (!this.#isOpen || this.#isEnding) return;
    // As in Node: one that is being connected is connected first.
    this.#isEnding = true;
    if (this.#isConnected) this.#finish();
  }

  destroy(error?: Error): void {
    this.destroyed = true;
    if (!this.#isOpen) return;
    this.#close();
    this.#scheduler.after(this.#network.delay(), null, () => this.#peer?.ended());
    if (error !== undefined) this.machine.enter(() => void this.emit('error', error));
  }

  cork(): void {}
  uncork(): void {}
  unref(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }

  #finish(): void {
    this.#close();
    this.#send(() => {
      this.#peer?.ended();
      // The other end closes too.
      this.machine.enter(() => void this.emit('end'));
    });
  }

  #send(run: () => void): void {
    const { nowMs } = this.#scheduler;
    this.#sentMs = Math.max(this.#sentMs, nowMs + this.#network.delay());
    this.#scheduler.after(this.#sentMs - nowMs, null, run);
  }

  /** Runs at the process, after what came before. */
  #later(run: () => void): void {
    const { nowMs } = this.#scheduler;
    this.#gotMs = Math.max(this.#gotMs, nowMs + this.#network.delay());
    this.#scheduler.after(this.#gotMs - nowMs, this.machine, () => {
      if (this.#isOpen) run();
    });
  }

  #arrive(bytes: Buffer): void {
    const { buffer, callback } = this.#target.onread;
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      this.#later(() => {
        buffer.set(piece);
        callback(piece.length, buffer);
      });
    }
  }

  #closedByPeer(isReset: boolean): void {
    this.#later(() => {
      if (isReset) this.#fail('ECONNRESET');
      else {
        this.#close();
        this.emit('end');
      }
    });
  }

  #fail(code: string): void {
    this.#close();
    this.emit('error', Object.assign(new Error(code), { code }));
  }

  #close(): void {
    this.#isOpen = false;
    this.#network.closed(this);
    this.machine.enter(() => void this.emit('close'));
  }
}
