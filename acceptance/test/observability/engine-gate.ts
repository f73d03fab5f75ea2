import { connect, createServer, type Server, type Socket } from 'node:net';
import { loopback } from '@pm/deploy/local/ports';

/** Stands before an engine that other tests share; when it is shut, the engine is away for those behind it. */
export class EngineGate {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isShut = false;

  constructor(engineUrl: string) {
    const { hostname: host, port } = new URL(engineUrl);
    this.#server = createServer((client) => {
      if (this.#isShut) {
        client.destroy();
        return;
      }
      const engine = connect({ host, port: Number(port) });
      for (const socket of [client, engine]) this.#keep(socket);
      client.pipe(engine).pipe(client);
      client.on('close', () => engine.destroy());
      engine.on('close', () => client.destroy());
    });
  }

  /** Resolves with the URL of the engine through the gate. */
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, loopback, resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
    return `http://${loopback}:${address.port}`;
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
    this.shut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
