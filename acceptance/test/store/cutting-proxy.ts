import { connect, createServer, type Socket } from 'node:net';
import { loopback } from '@pm/deploy/local/ports';

/** Damage to the bytes of one direction, counted from the first byte of a connection. */
export interface Damage {
  readonly direction: 'request' | 'response';
  /** The connection ends after so many bytes. */
  readonly cutAfter?: number;
  /** A bit of this byte is flipped. */
  readonly flipAt?: number;
}

/** A proxy before a server that cuts connections or changes bytes. */
export class CuttingProxy {
  damage: Damage | null = null;
  /** Bits that were flipped so far. */
  flipped = 0;
  readonly #server;

  private constructor(port: number) {
    this.#server = createServer((client) => this.#join(client, connect(port, loopback)));
  }

  static async open(port: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port);
    await new Promise<void>((done) => proxy.#server.listen(0, loopback, done));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://${loopback}:${typeof address === 'object' ? address?.port : 0}`;
  }

  close(): void {
    this.#server.close();
  }

  #join(client: Socket, server: Socket): void {
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    this.#pass('request', client, server, end);
    this.#pass('response', server, client, end);
  }

  #pass(direction: Damage['direction'], from: Socket, to: Socket, end: () => void): void {
    let passed = 0;
    from.on('data', (chunk: Buffer) => {
      const { cutAfter = Number.POSITIVE_INFINITY, flipAt = -1 } =
        this.damage?.direction === direction ? this.damage : {};
      const at = flipAt - passed;
      if (at >= 0 && at < chunk.length) {
        chunk[at] = (chunk[at] ?? 0) ^ 1;
        this.flipped += 1;
      }
      to.write(chunk.subarray(0, Math.max(0, cutAfter - passed)));
      passed += chunk.length;
      if (passed >= cutAfter) end();
    });
  }
}
