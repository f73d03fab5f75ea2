import net from 'node:net';
import { FrameReader } from './frame-reader.ts';
import { BytesReader, BytesWriter } from './kafka-bytes.ts';

const keys = {
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  offsetFetch: 9,
  findCoordinator: 10,
  join: 11,
  heartbeat: 12,
  leave: 13,
  sync: 14,
  versions: 18,
} as const;

/** A request that coordinators know. */
export type RequestName = keyof typeof keys;

/** Newest version of each request that these brokers speak. */
const spoken: readonly (readonly [number, number])[] = [
  [keys.fetch, 4],
  [keys.listOffsets, 0],
  [keys.metadata, 0],
  [keys.offsetFetch, 1],
  [keys.findCoordinator, 0],
  [keys.join, 0],
  [keys.heartbeat, 0],
  [keys.leave, 0],
  [keys.sync, 0],
  [keys.versions, 2],
];

interface ScriptedBroker {
  readonly node: number;
  readonly server: net.Server;
  readonly sockets: Set<net.Socket>;
  /** Takes requests and answers none. */
  isStill: boolean;
}

/**
 * Brokers over TCP, one of which coordinates a group of one member: each join makes a new one, which leads it. A test
 * says what is held back and refused, and reads who joined, sent heartbeats and left.
 */
export class GroupCoordinator {
  readonly joined: string[] = [];
  readonly left: string[] = [];
  /** Heartbeats of each member. */
  readonly beats = new Map<string, number>();
  /** Requests so far, at all brokers. */
  readonly asked = new Map<RequestName, number>();
  /** Answers to these are held back. */
  readonly held = new Set<RequestName>();
  /** Broker that coordinates the group. */
  coordinator = 1;
  partitions = 1;
  /** Errors of answers, by Kafka's numbers. */
  heartbeatError = 0;
  findError = 0;
  readonly #brokers: ScriptedBroker[] = [];
  #waiting: (() => void)[] = [];
  #claim: Buffer = Buffer.alloc(0);
  #assignment: Buffer = Buffer.alloc(0);

  static async open(nodes: number): Promise<GroupCoordinator> {
    const group = new GroupCoordinator();
    for (let node = 1; node <= nodes; node += 1) await group.#listen(node);
    return group;
  }

  get addresses(): string[] {
    return this.#brokers.map((broker) => `127.0.0.1:${portOf(broker)}`);
  }

  get members(): number {
    return this.joined.length;
  }

  /** Connections that are open, at all brokers. */
  get connections(): number {
    return this.#brokers.reduce((sum, { sockets }) => sum + sockets.size, 0);
  }

  beatsOf(member: string): number {
    return this.beats.get(member) ?? 0;
  }

  askedFor(name: RequestName): number {
    return this.asked.get(name) ?? 0;
  }

  standStill(node: number): void {
    for (const broker of this.#brokers) if (broker.node === node) broker.isStill = true;
  }

  /** Gives the answers that were held back, and holds no more. */
  release(): void {
    this.held.clear();
    for (const answer of this.#waiting.splice(0)) answer();
  }

  async close(): Promise<void> {
    for (const { server, sockets } of this.#brokers) {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #listen(node: number): Promise<void> {
    const sockets = new Set<net.Socket>();
    const server = net.createServer();
    const broker = { node, server, sockets, isStill: false };
    server.on('connection', (socket) => {
      sockets.add(socket);
      const frames = new FrameReader((frame) => this.#request(broker, socket, Buffer.from(frame)));
      socket.on('data', (bytes) => frames.push(bytes));
      socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#brokers.push(broker);
  }

  #request(broker: ScriptedBroker, socket: net.Socket, frame: Buffer): void {
    const request = new BytesReader(frame);
    request.int32();
    const key = request.int16();
    request.int16();
    const answer = new BytesWriter().int32(request.int32());
    request.text();
    const name = (Object.keys(keys) as RequestName[]).find((one) => keys[one] === key);
    if (name === undefined) return;
    this.asked.set(name, this.askedFor(name) + 1);
    if (broker.isStill) return;
    const write = () => {
      this.#answer(name, request, answer);
      if (!socket.destroyed) socket.write(answer.framed());
    };
    if (this.held.has(name)) this.#waiting.push(write);
    else write();
  }

  #answer(name: RequestName, request: BytesReader, answer: BytesWriter): void {
    if (name === 'versions') this.#writeVersions(answer);
    else if (name === 'metadata') this.#writeMetadata(answer);
    else if (name === 'findCoordinator') {
      answer.int16(this.findError);
      this.#writeBroker(answer, this.#brokers[this.coordinator - 1]);
    } else if (name === 'join') this.#join(request, answer);
    else if (name === 'sync') this.#sync(request, answer);
    else if (name === 'heartbeat') this.#heartbeat(request, answer);
    else if (name === 'leave') {
      request.text();
      this.left.push(request.text());
      answer.int16(0);
    } else if (name === 'offsetFetch') this.#writeCommitted(request, answer);
    else if (name === 'listOffsets') this.#writeOffsets(request, answer);
  }

  #join(request: BytesReader, answer: BytesWriter): void {
    request.text();
    request.int32();
    request.text();
    request.text();
    request.int32();
    const protocol = request.text();
    this.#claim = request.take(request.int32());
    const member = `member-${this.members + 1}`;
    this.joined.push(member);
    answer.int16(0).int32(this.members).text(protocol).text(member).text(member);
    answer.int32(1).text(member).bytes(this.#claim);
  }

  #sync(request: BytesReader, answer: BytesWriter): void {
    request.text();
    request.int32();
    request.text();
    request.list(() => {
      request.text();
      this.#assignment = request.take(request.int32());
    });
    answer.int16(0).bytes(this.#assignment);
  }

  #heartbeat(request: BytesReader, answer: BytesWriter): void {
    request.text();
    request.int32();
    const member = request.text();
    this.beats.set(member, this.beatsOf(member) + 1);
    answer.int16(this.heartbeatError);
  }

  #writeVersions(answer: BytesWriter): void {
    answer.int16(0).list(spoken, ([key, newest]) => answer.int16(key).int16(0).int16(newest));
    answer.int32(0);
  }

  #writeMetadata(answer: BytesWriter): void {
    answer.list(this.#brokers, (broker) => this.#writeBroker(answer, broker));
    const partitions = Array.from({ length: this.partitions }, (_, partition) => partition);
    // The last broker leads all partitions.
    const leader = this.#brokers.length;
    answer.int32(1).int16(0).text('t');
    answer.list(partitions, (partition) => {
      answer.int16(0).int32(partition).int32(leader);
      answer.int32(1).int32(leader).int32(1).int32(leader);
    });
  }

  #writeBroker(answer: BytesWriter, broker: ScriptedBroker | undefined): void {
    answer.int32(broker?.node ?? -1).text('127.0.0.1');
    answer.int32(broker === undefined ? 0 : portOf(broker));
  }

  /** Nothing was ever committed. */
  #writeCommitted(request: BytesReader, answer: BytesWriter): void {
    request.text();
    const topics = request.list(() => ({
      topic: request.text(),
      partitions: request.list(() => request.int32()),
    }));
    answer.list(topics, ({ topic, partitions }) => {
      answer.text(topic);
      answer.list(partitions, (one) => answer.int32(one).int64(-1).text('').int16(0));
    });
  }

  /** All partitions are empty. */
  #writeOffsets(request: BytesReader, answer: BytesWriter): void {
    request.int32();
    const topics = request.list(() => ({
      topic: request.text(),
      partitions: request.list(() => {
        const partition = request.int32();
        request.int64();
        request.int32();
        return partition;
      }),
    }));
    answer.list(topics, ({ topic, partitions }) => {
      answer.text(topic);
      answer.list(partitions, (one) => answer.int32(one).int16(0).int32(1).int64(0));
    });
  }
}

function portOf({ server }: ScriptedBroker): number {
  return (server.address() as net.AddressInfo).port;
}
