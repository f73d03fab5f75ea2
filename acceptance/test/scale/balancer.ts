import { request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { loopback } from '@pm/deploy/local/ports';

/** A process that connections go to. */
interface Target {
  readonly port: number;
  /** Its operations port; without one it is never asked. */
  readonly opsPort?: number;
}

/** Pause between two questions, milliseconds; also the time for an answer. */
const pollMs = 1_000;

/** Spreads connections over the processes whose `/serving` was 200 the last time that it was asked, once a second. */
export class Balancer {
  /** Why connections were not served: there was no process, or it refused them. */
  readonly refused: string[] = [];
  readonly #targets: readonly Target[];
  readonly #serving = new Set<Target>();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #timer: NodeJS.Timeout;
  #isShut = false;
  #turn = 0;

  private constructor(targets: readonly Target[]) {
    this.#targets = targets;
    this.#server = createServer((client) => this.#join(client));
    this.#timer = setInterval(() => void this.poll(), pollMs);
  }

  static async open(targets: readonly Target[]): Promise<Balancer> {
    const balancer = new Balancer(targets);
    await balancer.poll();
    await new Promise<void>((resolve) => balancer.#server.listen(0, loopback, resolve));
    return balancer;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
    return address.port;
  }

  get url(): string {
    return `http://${loopback}:${this.port}`;
  }

  /** Processes that get connections. */
  get serving(): number {
    return this.#serving.size;
  }

  async poll(): Promise<void> {
    await Promise.all(
      this.#targets.map(async (target) => {
        const answer = await serves(target);
        if (answer === true) this.#serving.add(target);
        else if (answer === false) this.#serving.delete(target);
      }),
    );
  }

  /** Cuts every connection, and refuses others until `unshut`. */
  shut(): void {
    this.#isShut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  unshut(): void {
    this.#isShut = false;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.shut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    client.on('error', () => client.destroy());
    const among = [...this.#serving];
    this.#turn += 1;
    const target = among[this.#turn % among.length];
    if (this.#isShut || target === undefined) {
      if (!this.#isShut) this.refused.push('no process serves');
      client.destroy();
      return;
    }
    const service = connect(target.port, loopback);
    service.on('error', (error) => {
      if (service.connecting || ('syscall' in error && error.syscall === 'connect'))
        this.refused.push(`${target.port}: ${error.message}`);
      service.destroy();
    });
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroySoon();
      });
      from.pipe(to);
    }
  }
}

/**
 * True for a 200, false for any other answer and for a refused connection. Null where nothing came, which says nothing
 * on a slow machine. A connection of its own: one that was kept may be closed by its process in the same moment.
 */
function serves({ opsPort }: Target): Promise<boolean | null> {
  if (opsPort === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(pollMs);
    const asked = request({
      host: loopback,
      port: opsPort,
      path: '/serving',
      agent: false,
      signal,
    });
    asked.on('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? false : null),
    );
    asked.end();
  });
}
