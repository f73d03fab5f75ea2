import net from 'node:net';
import { createDeferred } from './deferred.ts';
import { FrameReader } from './frame-reader.ts';

/** Kafka's number of a produce request. */
const produce = 0;

/**
 * A TCP relay in front of one broker that reads Kafka's frames, so that it can lose exactly one answer. Clients are
 * sent through it with `LogClientOptions.route` (or kafkajs' `socketFactory`), whatever address the broker
 * advertises.
 */
export class FaultProxy {
  readonly #target: { host: string; port: number };
  readonly #server: net.Server;
  readonly #pairs = new Set<readonly [net.Socket, net.Socket]>();
  #swallow = 0;
  #swallowed = createDeferred();
  #dropProduces = false;
  #stalled = false;
  /** Produce requests that came through. */
  produceRequests = 0;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
    this.#server = net.createServer((client) => this.#accept(client));
  }

  static async open(broker: string): Promise<FaultProxy> {
    const [host = '', port = ''] = broker.split(':');
    const proxy = new FaultProxy({ host, port: Number(port) });
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get address(): { host: string; port: number } {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed');
    return { host: '127.0.0.1', port: address.port };
  }

  /** The next answer to a produce request gets lost and its connection breaks; resolves when that has happened. */
  swallowProduceResponse(): Promise<void> {
    this.#swallow += 1;
    this.#swallowed = createDeferred();
    return this.#swallowed.promise;
  }

  /** Answers to produce requests get lost from now on, their connections stay. */
  dropProduceResponses(drop: boolean): void {
    this.#dropProduces = drop;
  }

  /** Nothing passes in either direction; connections stay open. */
  stall(stalled: boolean): void {
    this.#stalled = stalled;
    for (const pair of this.#pairs)
      for (const socket of pair) {
        if (stalled) socket.pause();
        else socket.resume();
      }
  }

  /** Breaks every connection; new ones work. */
  breakConnections(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(client: net.Socket): void {
    const broker = net.connect(this.#target);
    const pair = [client, broker] as const;
    this.#pairs.add(pair);
    const end = () => {
      client.destroy();
      broker.destroy();
      this.#pairs.delete(pair);
    };
    const produces = new Set<number>();
    const requests = new FrameReader((frame) => {
      if (frame.readInt16BE(4) === produce) {
        produces.add(frame.readInt32BE(8));
        this.produceRequests += 1;
      }
      broker.write(frame);
    });
    const answers = new FrameReader((frame) => this.#answer(frame, produces, client, end));
    client
      .on('data', (bytes) => requests.push(bytes))
      .on('close', end)
      .on('error', end);
    broker
      .on('data', (bytes) => answers.push(bytes))
      .on('close', end)
      .on('error', end);
    if (this.#stalled) for (const socket of pair) socket.pause();
  }

  #answer(frame: Buffer, produces: Set<number>, client: net.Socket, end: () => void): void {
    const isProduce = produces.delete(frame.readInt32BE(4));
    if (isProduce && this.#dropProduces) return;
    if (isProduce && this.#swallow > 0) {
      this.#swallow -= 1;
      end();
      this.#swallowed.resolve();
      return;
    }
    client.write(frame);
  }
}
