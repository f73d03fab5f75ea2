import { connect, createServer, type Server, type Socket } from 'node:net';
import { loopback } from '@pm/deploy/local/ports';
import type { Random } from '@pm/kit/random';

/** Time that passes while this process runs: a tick counts for no more, however long the process stood still. */
const tickMs = 50;
const tickMaxMs = 250;

/** A clock that stops while this process cannot run. */
class RunningClock {
  #elapsedMs = 0;
  #tickedAtMs = performance.now();
  readonly #timer = setInterval(() => this.#tick(), tickMs);

  nowMs(): number {
    return this.#elapsedMs + this.#sinceTickMs();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#elapsedMs += this.#sinceTickMs();
    this.#tickedAtMs = performance.now();
  }

  #sinceTickMs(): number {
    return Math.min(performance.now() - this.#tickedAtMs, tickMaxMs);
  }
}

/** One connection of a client, and the one to a gateway that serves it. */
interface Link {
  readonly client: Socket;
  readonly service: Socket;
  /** When the service sent something last. */
  heardAtMs: number;
  isStalled: boolean;
}

/**
 * Stands between clients and gateways: each connection goes to one of them by chance, is cut or stalled on request,
 * and its longest silence is measured.
 */
export class CuttingProxy {
  readonly #targets: readonly number[];
  readonly #random: Random;
  readonly #clock = new RunningClock();
  readonly #links = new Set<Link>();
  readonly #server: Server;
  #longestSilenceMs = 0;
  #opened = 0;

  constructor(targets: readonly number[], random: Random) {
    this.#targets = targets;
    this.#random = random;
    this.#server = createServer((client) => this.#join(client));
  }

  /** Resolves with its port. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, loopback, resolve);
    });
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
    return address.port;
  }

  /** Connections that clients opened. */
  get opened(): number {
    return this.#opened;
  }

  /** Longest time in which the service sent nothing on an open connection, milliseconds; stalls are not counted. */
  get longestSilenceMs(): number {
    for (const link of this.#links) this.#measure(link);
    return this.#longestSilenceMs;
  }

  /** Cuts one connection; false when there is none. */
  cut(): boolean {
    const link = this.#anyLink();
    link?.client.resetAndDestroy();
    link?.service.resetAndDestroy();
    return link !== null;
  }

  /** Nothing passes one connection for a while; then everything goes on. */
  stall(durationMs: number): void {
    const link = this.#anyLink();
    if (link === null || link.isStalled) return;
    this.#measure(link);
    link.isStalled = true;
    link.service.pause();
    link.client.pause();
    setTimeout(() => {
      link.heardAtMs = this.#clock.nowMs();
      link.isStalled = false;
      link.service.resume();
      link.client.resume();
    }, durationMs);
  }

  async close(): Promise<void> {
    this.#clock.stop();
    for (const { client, service } of this.#links) {
      client.destroy();
      service.destroy();
    }
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #anyLink(): Link | null {
    const links = [...this.#links];
    return links.length === 0 ? null : this.#random.pick(links);
  }

  #join(client: Socket): void {
    this.#opened += 1;
    const service = connect({ port: this.#random.pick(this.#targets), host: loopback });
    const link = { client, service, heardAtMs: this.#clock.nowMs(), isStalled: false };
    this.#links.add(link);
    service.on('data', () => {
      this.#measure(link);
      link.heardAtMs = this.#clock.nowMs();
    });
    // No back-pressure: a stall pauses both sides, and frames are few.
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => from.destroy());
      from.on('close', () => {
        to.destroy();
        this.#end(link);
      });
      from.on('data', (bytes) => to.write(bytes));
    }
  }

  #end(link: Link): void {
    if (this.#links.delete(link)) this.#measure(link);
  }

  #measure({ heardAtMs, isStalled }: Link): void {
    if (isStalled) return;
    this.#longestSilenceMs = Math.max(this.#longestSilenceMs, this.#clock.nowMs() - heardAtMs);
  }
}
