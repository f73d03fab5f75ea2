import net from 'node:net';
import { createDeferred, type Deferred } from './deferred.ts';
import { FrameReader } from './frame-reader.ts';
import { BytesReader } from './kafka-bytes.ts';

/** Kafka's number of a produce request. */
const produce = 0;

/** A frame that did not go on to the client. */
interface HeldResponse {
  readonly client: net.Socket;
  readonly frame: Buffer;
}

/**
 * A TCP relay in front of one broker that reads Kafka's frames, so that it can lose exactly one answer. Clients are
 * sent through it with `LogClientOptions.route` (or kafkajs' `socketFactory`), or by a broker that advertises its
 * address.
 */
export class FaultProxy {
  readonly #target: { host: string; port: number };
  readonly #server: net.Server;
  readonly #pairs = new Set<readonly [net.Socket, net.Socket]>();
  #swallow = 0;
  #swallowed = createDeferred();
  /** Topics of which the next answer is held back, or the next request is awaited. */
  readonly #holds = new Map<string, Deferred>();
  readonly #awaited = new Map<string, Deferred>();
  #held: HeldResponse[] = [];
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

  /**
   * Holds back the next answer to a produce request for this topic that says that the records were appended; resolves
   * when the broker has given it.
   */
  holdProduceResponse(topic: string): Promise<void> {
    return awaited(this.#holds, topic);
  }

  /** Resolves when the next produce request for this topic has been passed on to the broker. */
  nextProduceRequest(topic: string): Promise<void> {
    return awaited(this.#awaited, topic);
  }

  /** Passes on what was held back, to clients that still wait, and holds nothing more. */
  releaseHeld(): void {
    this.#holds.clear();
    for (const { client, frame } of this.#held) if (!client.destroyed) client.write(frame);
    this.#held = [];
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
    const produces = new Map<number, readonly string[]>();
    const requests = new FrameReader((frame) => {
      broker.write(frame);
      if (frame.readInt16BE(4) !== produce) return;
      const topics = topicsOf(frame);
      produces.set(frame.readInt32BE(8), topics);
      this.produceRequests += 1;
      settle(this.#awaited, topics);
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

  #answer(
    frame: Buffer,
    produces: Map<number, readonly string[]>,
    client: net.Socket,
    end: () => void,
  ): void {
    const topics = produces.get(frame.readInt32BE(4)) ?? [];
    const isProduce = produces.delete(frame.readInt32BE(4));
    if (isProduce && this.#dropProduces) return;
    if (isProduce && isAppended(frame) && settle(this.#holds, topics)) {
      this.#held.push({ client, frame });
      return;
    }
    if (isProduce && this.#swallow > 0) {
      this.#swallow -= 1;
      end();
      this.#swallowed.resolve();
      return;
    }
    client.write(frame);
  }
}

/** Topics of a produce request of version 3 and later (https://kafka.apache.org/protocol#The_Messages_Produce). */
function topicsOf(frame: Buffer): readonly string[] {
  const request = new BytesReader(frame.subarray(12));
  request.text();
  request.text();
  request.take(2 + 4);
  return request.list(() => {
    const topic = request.text();
    request.list(() => request.take(4).length + request.take(request.int32()).length);
    return topic;
  });
}

/** Whether the answer has no error for the first partition of the request: topics, partitions, number, error. */
function isAppended(frame: Buffer): boolean {
  const answer = new BytesReader(frame.subarray(8));
  if (answer.int32() === 0) return false;
  answer.text();
  answer.int32();
  answer.int32();
  return answer.int16() === 0;
}

function awaited(by: Map<string, Deferred>, topic: string): Promise<void> {
  const deferred = by.get(topic) ?? createDeferred();
  by.set(topic, deferred);
  return deferred.promise;
}

/** Whether one of the topics was waited for. */
function settle(by: Map<string, Deferred>, topics: readonly string[]): boolean {
  const waiting = topics.filter((topic) => by.has(topic));
  for (const topic of waiting) {
    by.get(topic)?.resolve();
    by.delete(topic);
  }
  return waiting.length > 0;
}
