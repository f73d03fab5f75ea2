import { BytesReader, BytesWriter } from '../kafka-bytes.ts';
import { batchesOf } from '../scripted-log.ts';
import {
  type AskedPartition,
  fetchIn,
  keys,
  topicsIn,
  versions,
  writeFetched,
} from './broker-requests.ts';
import type { BrokerNode, Cluster } from './cluster.ts';
import { GroupModel, groupErrors, refusedJoin } from './group-model.ts';
import type { Machine } from './machine.ts';
import type { Server, ServerEnd } from './memory-network.ts';
import type { Observer } from './observer.ts';
import type { WireFaults } from './wire-faults.ts';

/** A request at a broker. */
interface Request {
  readonly node: BrokerNode;
  readonly machine: Machine;
  readonly key: number;
  readonly body: BytesReader;
  /** The answer, with its number. */
  readonly reply: BytesWriter;
  /** Sends the reply, and says so where it still can. */
  done(sent?: () => void): void;
}

interface Connection {
  readonly end: ServerEnd;
  readonly waiting: Buffer[];
  isBusy: boolean;
  /** Nothing is answered on it any more. */
  isStuck: boolean;
  isOpen: boolean;
}

const port = 9092;
const [unknownTopic, noLeader, notLeader, timedOut] = [3, 5, 6, 7];
/** As the broker waits for copies of what it appends for a group. */
const groupAppendMs = 900;

/** Brokers over the wire of Kafka, with everything that may go wrong on it. */
export class BrokerServer {
  readonly #cluster: Cluster;
  readonly #faults: WireFaults;
  readonly #observer: Observer;
  readonly group: GroupModel;
  readonly #connections = new Map<number, Set<Connection>>();
  /** Fetches that wait for records. */
  readonly #waiting = new Set<() => void>();
  #isWakeDue = false;
  #producerIds = 1_000;

  constructor(cluster: Cluster, faults: WireFaults, observer: Observer) {
    this.#cluster = cluster;
    this.#faults = faults;
    this.#observer = observer;
    this.group = new GroupModel(cluster, observer);
    cluster.onChange = () => this.#wakeFetches();
    cluster.onCoordinator = () => this.group.moved();
    for (const node of cluster.nodes) node.onDown = () => this.#dropAll(node);
  }

  of(node: BrokerNode): Server {
    return { accept: (end) => this.#accept(node, end) };
  }

  /** Ends what is stuck. */
  calm(): void {
    for (const connections of this.#connections.values())
      for (const one of connections) if (one.isStuck && !this.#faults.isForEver()) this.#drop(one);
  }

  #accept(node: BrokerNode, end: ServerEnd) {
    if (node.state === 'down') return null;
    const connection: Connection = {
      end,
      waiting: [],
      isBusy: false,
      isStuck: false,
      isOpen: true,
    };
    const all = this.#connections.get(node.id) ?? new Set();
    this.#connections.set(node.id, all.add(connection));
    const { life } = node;
    return {
      frame: (bytes: Buffer) => {
        this.#observer.asked(end.machine);
        node.act(() => {
          if (node.life !== life || !connection.isOpen) return;
          connection.waiting.push(bytes);
          this.#next(node, connection);
        });
      },
      ended: () => {
        connection.isOpen = false;
        all.delete(connection);
      },
    };
  }

  #dropAll(node: BrokerNode): void {
    for (const one of this.#connections.get(node.id) ?? []) this.#drop(one);
    this.#connections.get(node.id)?.clear();
  }

  #drop(connection: Connection): void {
    if (!connection.isOpen) return;
    connection.isOpen = false;
    connection.end.close(this.#cluster.scheduler.random.chance(0.5));
  }

  /** The requests of a connection, one after the other. */
  #next(node: BrokerNode, connection: Connection): void {
    const bytes = connection.waiting[0];
    if (bytes === undefined || connection.isBusy || connection.isStuck || !connection.isOpen)
      return;
    connection.waiting.shift();
    connection.isBusy = true;
    const body = new BytesReader(bytes);
    body.int32();
    const [key, , correlation] = [body.int16(), body.int16(), body.int32()];
    body.text();
    const reply = new BytesWriter().int32(correlation);
    const fate = this.#faults.fateOf(key);
    if (fate === 'stuck') connection.isStuck = true;
    if (fate === 'closed before') this.#drop(connection);
    if (fate === 'stuck' || fate === 'closed before') return;
    const done = (sent = () => {}) =>
      this.#after(node, this.#faults.delayMs(fate, key), () => {
        if (fate === 'closed after') this.#drop(connection);
        if (!connection.isOpen) return;
        connection.isBusy = false;
        connection.end.write(reply.framed());
        sent();
        this.#next(node, connection);
      });
    this.#serve({ node, machine: connection.end.machine, key, body, reply, done });
  }

  #after(node: BrokerNode, ms: number, run: () => void): void {
    const { life } = node;
    this.#cluster.scheduler.after(ms, null, () =>
      node.act(() => {
        if (node.life === life) run();
      }),
    );
  }

  #serve(request: Request): void {
    const { key } = request;
    if (key === keys.apiVersions) this.#versions(request);
    else if (key === keys.metadata) this.#metadata(request);
    else if (key === keys.fetch) this.#fetch(request);
    else if (key === keys.produce) this.#produce(request);
    else if (key === keys.listOffsets) this.#listOffsets(request);
    else if (key === keys.findCoordinator) this.#findCoordinator(request);
    else if (key === keys.initProducerId) {
      this.#producerIds += 1;
      const error = this.#faults.noProducerIds ? groupErrors.loading : 0;
      request.reply.int32(0).int16(error).int64(this.#producerIds).int16(0);
      request.done();
    } else if (key === keys.describeGroups) this.#describe(request);
    else this.#ofGroup(request);
  }

  #versions({ reply, done }: Request): void {
    reply.int16(0).list(versions, ([key, only]) => reply.int16(key).int16(only).int16(only));
    reply.int32(0);
    done();
  }

  #metadata({ node, body, reply, done }: Request): void {
    const topics = body.list(() => body.text());
    const { nodes } = this.#cluster;
    reply.list(nodes, ({ id, host }) => reply.int32(id).text(host).int32(port).int16(-1));
    reply.int32(1).list(topics, (topic) => {
      const own = this.#cluster.partitionsOf(topic);
      reply
        .int16(own.length === 0 ? unknownTopic : 0)
        .text(topic)
        .int8(0);
      reply.list(own, ({ key }) => {
        const leader = this.#cluster.leaderAt(node, key);
        reply.int16(leader < 0 ? noLeader : 0).int32(Number(key.slice(topic.length + 1)));
        reply.int32(leader).int32(1).int32(leader).int32(1).int32(leader);
      });
    });
    done();
  }

  #fetch({ node, machine, body, reply, done }: Request): void {
    const { waitMs, asked } = fetchIn(body);
    const injected = this.#faults.fetchError();
    const unlucky = injected === 0 ? -1 : this.#cluster.scheduler.random.below(asked.length);
    const look = () =>
      asked.map((one, index) => {
        const error = index === unlucky ? injected : this.#fetchErrorOf(node, one);
        const partition = this.#cluster.partition(`${one.topic}/${one.partition}`);
        const end = partition.endAt(node.id);
        const values =
          error === 0
            ? partition.values.slice(
                one.offset,
                Math.min(end, one.offset + this.#faults.recordsMax),
              )
            : [];
        return { ...one, error, end, values };
      });
    let isOver = false;
    const finish = () => {
      if (isOver) return;
      isOver = true;
      this.#waiting.delete(check);
      const results = look();
      writeFetched(reply, results);
      const isGood = results.every(({ error }) => error === 0);
      done(() => {
        for (const one of results) if (isGood) this.#observer.fetched(machine, node.id, one);
      });
    };
    const check = () => {
      if (look().some(({ error, values }) => error > 0 || values.length > 0)) finish();
    };
    this.#waiting.add(check);
    this.#after(node, waitMs, finish);
    check();
  }

  #fetchErrorOf(node: BrokerNode, { topic, partition, offset }: AskedPartition): number {
    const key = `${topic}/${partition}`;
    const found = this.#cluster.partition(key);
    if (this.#cluster.leaderAt(node, key) !== node.id) return notLeader;
    if (found.error !== 0) return found.error;
    return offset > found.values.length ? 1 : 0;
  }

  #wakeFetches(): void {
    if (this.#isWakeDue) return;
    this.#isWakeDue = true;
    this.#cluster.scheduler.after(1, null, () => {
      this.#isWakeDue = false;
      for (const check of [...this.#waiting]) check();
    });
  }

  #listOffsets({ node, body, reply, done }: Request): void {
    body.int32();
    const asked = topicsIn(body, (topic) => ({
      topic,
      partition: body.int32(),
      timeMs: body.int64(),
    }));
    reply.list(asked, ({ topic, partition, timeMs }) => {
      const key = `${topic}/${partition}`;
      const isLeader = this.#cluster.leaderAt(node, key) === node.id;
      const end = this.#cluster.partition(key).endAt(node.id);
      reply
        .text(topic)
        .int32(1)
        .int32(partition)
        .int16(isLeader ? 0 : notLeader);
      reply.int64(-1).int64(timeMs === -1 ? end : 0);
    });
    done();
  }

  #produce({ node, body, reply, done }: Request): void {
    let isShort = false;
    const results = batchesOf(body).map((batch) => {
      const key = `${batch.topic}/${batch.partition}`;
      const partition = this.#cluster.partition(key);
      const { topic } = batch;
      const refused = { topic, partition: batch.partition, baseOffset: -1 };
      if (this.#cluster.leaderAt(node, key) !== node.id)
        return { ...refused, errorCode: notLeader };
      if (partition.leader !== node.id || node.isIsolated) {
        isShort = true;
        return { ...refused, errorCode: timedOut };
      }
      const result = partition.append(batch);
      this.#cluster.onChange();
      return { ...refused, ...result };
    });
    reply.list(results, ({ topic, partition, errorCode, baseOffset }) =>
      reply.text(topic).int32(1).int32(partition).int16(errorCode).int64(baseOffset).int64(-1),
    );
    reply.int32(0);
    if (isShort) this.#after(node, groupAppendMs, () => done());
    else done();
  }

  #findCoordinator({ node, reply, done }: Request): void {
    const id = node.view.coordinator;
    const error = this.#faults.coordinatorError();
    reply
      .int16(error)
      .int32(error === 0 ? id : -1)
      .text(error === 0 ? `b${id}` : '')
      .int32(port);
    done();
  }

  /** State, and the members with their claims once the group is settled. */
  #describe({ node, reply, done }: Request): void {
    const { members, state } = this.group;
    const error = this.#groupErrorOf(node);
    const shown = error === 0 ? [...members.values()] : [];
    reply.int32(1).int16(error).text('g').text(state).text('consumer').text('pm-sticky-1');
    reply.list(shown, ({ memberId, metadata, assignment }) => {
      const isSettled = state === 'Stable';
      reply.text(memberId).text('c').text('h');
      reply.bytes(isSettled ? metadata : Buffer.alloc(0)).bytes(assignment);
    });
    done();
  }

  #groupErrorOf(node: BrokerNode): number {
    if (node.view.coordinator !== node.id) return groupErrors.notCoordinator;
    if (this.#cluster.coordinator === node.id && this.group.isLoading) return groupErrors.loading;
    return 0;
  }

  #ofGroup(request: Request): void {
    const { node } = request;
    const error = this.#groupErrorOf(node) || this.#faults.groupError(request.key);
    // It does not know that it has been replaced: it answers from memory, and cannot append.
    const isFormer = error === 0 && (this.#cluster.coordinator !== node.id || node.isIsolated);
    if (isFormer && request.key === keys.heartbeat) {
      this.#heartbeat(request, 0);
      return;
    }
    if (isFormer)
      this.#after(node, groupAppendMs, () => this.#groupRequest(request, groupErrors.notAvailable));
    else this.#groupRequest(request, error);
  }

  #groupRequest(request: Request, error: number): void {
    const { key } = request;
    if (key === keys.joinGroup) this.#join(request, error);
    else if (key === keys.syncGroup) this.#sync(request, error);
    else if (key === keys.heartbeat) this.#heartbeat(request, error);
    else if (key === keys.leaveGroup) {
      const { body, reply, done } = request;
      body.text();
      const memberId = body.text();
      reply.int16(error || this.group.leave(memberId));
      done();
    } else if (key === keys.offsetCommit) this.#commit(request, error);
    else if (key === keys.offsetFetch) this.#committed(request, error);
    else throw new Error(`no answer to requests of kind ${key}`);
  }

  #join({ machine, body, reply, done }: Request, error: number): void {
    body.text();
    const [sessionMs, rebalanceMs, memberId] = [body.int32(), body.int32(), body.text()];
    body.text();
    const [first] = body.list(() => ({ protocol: body.text(), metadata: body.blob() }));
    const { protocol = '', metadata = Buffer.alloc(0) } = first ?? {};
    const write = (result: ReturnType<typeof refusedJoin>) => {
      reply.int16(result.error).int32(result.generation).text(result.protocol);
      reply.text(result.leader).text(result.memberId);
      reply.list(result.members, (one) => reply.text(one.memberId).bytes(one.metadata));
      done();
    };
    if (error !== 0) write(refusedJoin(error, memberId));
    else this.group.join({ machine, memberId, sessionMs, rebalanceMs, protocol, metadata }, write);
  }

  #sync({ machine, body, reply, done }: Request, error: number): void {
    body.text();
    const [generation, memberId] = [body.int32(), body.text()];
    const assignments = body.list(() => ({ memberId: body.text(), assignment: body.blob() }));
    const write = (result: { error: number; assignment: Buffer }) => {
      if (result.error === 0) this.#observer.heard(machine, memberId, false);
      reply.int16(result.error).bytes(result.assignment);
      done();
    };
    if (error !== 0) write({ error, assignment: Buffer.alloc(0) });
    else this.group.sync(memberId, generation, assignments, write);
  }

  #heartbeat({ node, machine, body, reply, done }: Request, error: number): void {
    body.text();
    const [generation, memberId] = [body.int32(), body.text()];
    const isFormer = this.#cluster.coordinator !== node.id;
    const result = error || (isFormer ? 0 : this.group.heartbeat(memberId, generation));
    if (result === 0 || result === groupErrors.rebalancing)
      this.#observer.heard(machine, memberId, isFormer);
    reply.int16(result);
    done();
  }

  #commit({ body, reply, done }: Request, error: number): void {
    body.text();
    const [generation, memberId] = [body.int32(), body.text()];
    body.int64();
    const result = error || this.group.commit(memberId, generation);
    const asked = topicsIn(body, (topic) => {
      const [partition, offset, metadata] = [body.int32(), body.int64(), body.text()];
      return { topic, partition, offset, metadata };
    });
    for (const one of asked) if (result === 0) this.group.commits.set(one.partition, one);
    reply.list(asked, ({ topic, partition }) =>
      reply.text(topic).int32(1).int32(partition).int16(result),
    );
    done();
  }

  #committed({ body, reply, done }: Request, error: number): void {
    body.text();
    const asked = topicsIn(body, (topic) => ({ topic, partition: body.int32() }));
    reply.list(asked, ({ topic, partition }) => {
      const found = this.group.commits.get(partition);
      reply
        .text(topic)
        .int32(1)
        .int32(partition)
        .int64(found?.offset ?? -1);
      reply.text(found?.metadata ?? '').int16(error);
    });
    done();
  }
}
