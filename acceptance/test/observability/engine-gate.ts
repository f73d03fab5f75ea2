import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { loopback } from '@pm/deploy/local/ports';

/** Stands before a ClickHouse that other tests share; when it is shut, the engine is away for those that use it. */
export class EngineGate {
  readonly #engine: URL;
  readonly #server: Server;
  #isShut = false;

  constructor(engineUrl: string) {
    this.#engine = new URL(engineUrl);
    this.#server = createServer((asked, response) => this.#forward(asked, response));
    this.#server.on('connection', (socket) => {
      if (this.#isShut) socket.destroy();
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
    this.#server.closeAllConnections();
  }

  unshut(): void {
    this.#isShut = false;
  }

  async close(): Promise<void> {
    this.shut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The engine answers requests that name itself alone. */
  #forward(asked: IncomingMessage, response: ServerResponse): void {
    const { hostname: host, port, host: name } = this.#engine;
    const { method, url: path, headers } = asked;
    const options = { host, port, method, path, headers: { ...headers, host: name } };
    const sent = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    asked.pipe(sent);
  }
}
