import net from 'node:net';
import { FrameReader } from './frame-reader.ts';
import { BytesReader, BytesWriter } from './kafka-bytes.ts';
import { type BatchResult, batchesOf, ScriptedPartition, type SentBatch } from './scripted-log.ts';

/** A produce request at a broker, with what a test may do about it. */
export interface ProduceStep {
  readonly node: number;
  readonly batches: readonly SentBatch[];
  /** Appends everything that this broker leads; the results as a broker would answer them. */
  append(): readonly BatchResult[];
  answer(results: readonly BatchResult[]): void;
  /** Breaks the connection without an answer. */
  drop(): void;
}

/** A partition as a broker knows it. */
interface KnownPartition {
  readonly leader: number;
  readonly end: number;
}

/** The connection of a request, and what is called when it has its answer. */
interface Asker {
  readonly socket: net.Socket;
  answered(): void;
}

const produceKey = 0;
const listOffsetsKey = 2;
const metadataKey = 3;
const apiVersionsKey = 18;
const initProducerIdKey = 22;
/** The only version of each request that these brokers speak. */
const spoken = [
  [produceKey, 3],
  [listOffsetsKey, 1],
  [metadataKey, 1],
  [apiVersionsKey, 2],
  [initProducerIdKey, 0],
] as const;

/** The time that stands for the end. */
const latest = -1;
const unknownTopic = 3;
const noLeader = 5;
const notLeader = 6;

/**
 * Brokers that speak Kafka's protocol over TCP as far as a producer and a question about offsets need it, share their
 * partitions, and treat each produce request as the test says: an answer that gets lost after the append, a leader that
 * changes meanwhile.
 */
export class ScriptedBrokers {
  readonly #servers = new Map<number, net.Server>();
  readonly #ports = new Map<number, number>();
  readonly #sockets = new Map<number, Set<net.Socket>>();
  readonly #partitions = new Map<string, ScriptedPartition>();
  /** Requests of brokers that stand still. */
  readonly #held = new Map<number, (() => void)[]>();
  /** Partitions that each broker knew when it was cut off. */
  readonly #cutOff = new Map<number, ReadonlyMap<string, KnownPartition>>();
  #producerIds = 1_000;
  /** Replaces what a broker does with a produce request. */
  onProduce: (step: ProduceStep) => void = (step) => step.answer(step.append());

  static async open(nodes: readonly number[]): Promise<ScriptedBrokers> {
    const brokers = new ScriptedBrokers();
    for (const node of nodes) await brokers.#listen(node);
    return brokers;
  }

  /** `host:port` of all brokers. */
  get addresses(): readonly string[] {
    return [...this.#servers.keys()].map((node) => `127.0.0.1:${this.#portOf(node)}`);
  }

  /** Creates the partitions 0, 1 ... of a topic, each with its leader; -1 is none. */
  topic(name: string, leaders: readonly number[]): void {
    for (const [partition, leader] of leaders.entries())
      this.#partitions.set(`${name}/${partition}`, new ScriptedPartition(leader));
  }

  /** Deletes a topic. */
  remove(name: string): void {
    for (const key of this.#partitions.keys())
      if (key.startsWith(`${name}/`)) this.#partitions.delete(key);
  }

  partition(topic: string, partition: number): ScriptedPartition {
    const found = this.#partitions.get(`${topic}/${partition}`);
    if (found === undefined) throw new Error(`no partition ${topic}/${partition}`);
    return found;
  }

  /** Connections to a broker that are open. */
  connectionsOf(node: number): number {
    return this.#sockets.get(node)?.size ?? 0;
  }

  /** Breaks all connections of a broker and takes no more. */
  kill(node: number): void {
    this.#servers.get(node)?.close();
    for (const socket of this.#sockets.get(node) ?? []) socket.destroy();
  }

  /** Breaks all connections of a broker and takes new ones at another port. */
  async move(node: number): Promise<void> {
    this.kill(node);
    await this.#listen(node);
  }

  /** Goes on answering, by what it knows now: the others do not reach it any more. */
  cutOff(node: number): void {
    const known = [...this.#partitions.keys()].map(
      (key) => [key, this.#knownBy(node, key)] as const,
    );
    this.#cutOff.set(node, new Map(known));
  }

  /** Ends `cutOff`. */
  reconnect(node: number): void {
    this.#cutOff.delete(node);
  }

  /** Takes connections and requests, and answers none until it goes on, as a process that is stopped. */
  standStill(node: number): void {
    this.#held.set(node, []);
  }

  /** Answers what came meanwhile, on the connections it came from. */
  goOn(node: number): void {
    const held = this.#held.get(node) ?? [];
    this.#held.delete(node);
    for (const answer of held) answer();
  }

  /** Requests that wait at a broker that stands still. */
  heldBy(node: number): number {
    return this.#held.get(node)?.length ?? 0;
  }

  async close(): Promise<void> {
    for (const [node, server] of this.#servers) {
      this.kill(node);
      await new Promise((resolve) =>
        server.listening ? server.once('close', resolve) : resolve(0),
      );
    }
  }

  async #listen(node: number): Promise<void> {
    const server = net.createServer((socket) => this.#accept(node, socket));
    this.#servers.set(node, server);
    this.#sockets.set(node, new Set());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#ports.set(node, (server.address() as net.AddressInfo).port);
  }

  #portOf(node: number): number {
    return this.#ports.get(node) ?? 0;
  }

  #accept(node: number, socket: net.Socket): void {
    this.#sockets.get(node)?.add(socket);
    // A broker takes the next request of a connection when it has answered the one before.
    const waiting: Buffer[] = [];
    let isBusy = false;
    const next = (): void => {
      const frame = waiting[0];
      if (isBusy || frame === undefined) return;
      waiting.shift();
      isBusy = true;
      this.#request(node, frame, {
        socket,
        answered() {
          isBusy = false;
          next();
        },
      });
    };
    const take = (frame: Buffer): void => {
      waiting.push(frame);
      next();
    };
    const frames = new FrameReader((frame) => {
      const held = this.#held.get(node);
      const copy = Buffer.from(frame);
      if (held === undefined) take(copy);
      else held.push(() => take(copy));
    });
    socket
      .on('data', (bytes) => frames.push(bytes))
      .on('close', () => this.#sockets.get(node)?.delete(socket))
      .on('error', () => socket.destroy());
  }

  #request(node: number, frame: Buffer, { socket, answered }: Asker): void {
    const request = new BytesReader(frame);
    request.int32();
    const [key, version, correlationId] = [request.int16(), request.int16(), request.int32()];
    request.text();
    const answer = new BytesWriter().int32(correlationId);
    if (key === produceKey) {
      this.#produce(node, request, { socket, answered, answer });
      return;
    }
    if (key === apiVersionsKey) writeVersions(answer, version);
    else if (key === metadataKey)
      this.#writeMetadata(
        node,
        answer,
        request.list(() => request.text()),
      );
    else if (key === listOffsetsKey) this.#writeOffsets(node, request, answer);
    else if (key === initProducerIdKey) {
      this.#producerIds += 1;
      answer.int32(0).int16(0).int64(this.#producerIds).int16(0);
    }
    if (!socket.destroyed) socket.write(answer.framed());
    answered();
  }

  #produce(
    node: number,
    request: BytesReader,
    { socket, answered, answer }: Asker & { readonly answer: BytesWriter },
  ): void {
    const batches = batchesOf(request);
    this.onProduce({
      node,
      batches,
      append: () => batches.map((batch) => this.#append(node, batch)),
      answer(results) {
        answer.list(results, ({ topic, partition, errorCode, baseOffset }) => {
          answer.text(topic).int32(1).int32(partition).int16(errorCode).int64(baseOffset).int64(-1);
        });
        if (!socket.destroyed) socket.write(answer.int32(0).framed());
        answered();
      },
      drop: () => socket.destroy(),
    });
  }

  #append(node: number, batch: SentBatch): BatchResult {
    const { topic, partition } = batch;
    const at = this.partition(topic, partition);
    const refused = { errorCode: notLeader, baseOffset: -1 };
    return { topic, partition, ...(at.leader === node ? at.append(batch) : refused) };
  }

  #knownBy(node: number, key: string): KnownPartition {
    const { leader, values } = this.#partitions.get(key) ?? { leader: -1, values: [] };
    return this.#cutOff.get(node)?.get(key) ?? { leader, end: values.length };
  }

  /** https://kafka.apache.org/protocol#The_Messages_ListOffsets, version 1. */
  #writeOffsets(node: number, request: BytesReader, answer: BytesWriter): void {
    request.int32();
    const topics = request.list(() => {
      const name = request.text();
      const asked = request.list(() => ({ partition: request.int32(), time: request.int64() }));
      return { name, asked };
    });
    answer.list(topics, ({ name, asked }) => {
      answer.text(name).list(asked, ({ partition, time }) => {
        const { leader, end } = this.#knownBy(node, `${name}/${partition}`);
        answer.int32(partition).int16(leader === node ? 0 : notLeader);
        answer.int64(-1).int64(time === latest ? end : 0);
      });
    });
  }

  #writeMetadata(node: number, answer: BytesWriter, topics: readonly string[]): void {
    answer.list([...this.#servers.keys()], (node) => {
      answer.int32(node).text('127.0.0.1').int32(this.#portOf(node)).int16(-1);
    });
    answer.int32([...this.#servers.keys()][0] ?? -1);
    answer.list(topics, (topic) => {
      const own = [...this.#partitions.keys()].filter((key) => key.startsWith(`${topic}/`));
      answer
        .int16(own.length === 0 ? unknownTopic : 0)
        .text(topic)
        .int8(0);
      answer.list(own, (key) => {
        const { leader } = this.#knownBy(node, key);
        answer
          .int16(leader < 0 ? noLeader : 0)
          .int32(Number(key.slice(topic.length + 1)))
          .int32(leader);
        answer.int32(1).int32(leader).int32(1).int32(leader);
      });
    });
  }
}

function writeVersions(answer: BytesWriter, version: number): void {
  answer.int16(0).list(spoken, ([key, only]) => {
    answer.int16(key).int16(only).int16(only);
  });
  if (version > 0) answer.int32(0);
}
