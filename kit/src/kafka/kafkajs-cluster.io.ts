import type { Socket } from 'node:net';
import type { Broker, BrokerMetadata, Cluster, CoordinatorMetadata, Kafka } from 'kafkajs';
import { present } from '../assert/index.ts';
import { within } from '../fault/index.ts';
import { retryOptions } from './kafkajs-connection.io.ts';
import { isPassing, NoResponse } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { firstAnswer } from './waiting.io.ts';

/** The parts of kafkajs' broker that its types lack. */
export interface OpenBroker extends Broker {
  connectionPool: ConnectionPool;
  /** Versions of requests; null until it has said them. */
  readonly versions: unknown;
  connect(): Promise<void>;
  findGroupCoordinator(group: { readonly groupId: string }): Promise<CoordinatorMetadata>;
  syncGroup(request: object): Promise<unknown>;
  /** Finds the newest version of a request that both sides speak. */
  lookupRequest(key: number, definition: unknown): (content: object) => BrokerRequest;
  initProducerId(request: {
    readonly transactionTimeout: number;
  }): Promise<{ readonly producerId: string; readonly producerEpoch: number }>;
  listOffsets(request: {
    readonly isolationLevel: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly timestamp: string }[];
    }[];
  }): Promise<OffsetsResponse>;
}

/** Offsets of partitions. */
export interface OffsetsResponse {
  readonly responses: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
  }[];
}

/** A request of kafkajs with what reads its answer. */
export interface BrokerRequest {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    encode(): Promise<unknown>;
  };
  readonly response: { decode(bytes: unknown): Promise<unknown>; parse(answer: unknown): unknown };
}

/** The connections to a broker. */
export interface ConnectionPool {
  readonly host: string;
  readonly port: number;
  readonly rack: string | undefined;
  readonly pool: readonly BrokerConnection[];
  getConnection(index?: number): Promise<BrokerConnection>;
  getConnectionByRequest(protocol: BrokerRequest): Promise<BrokerConnection>;
}

/** One connection; it has a socket once it has been opened. */
export interface BrokerConnection {
  readonly socket?: Socket;
  nextCorrelationId(): number;
  authenticate(): Promise<void>;
  rejectRequests(cause: unknown): void;
  disconnect(): Promise<unknown>;
}

/** The parts of kafkajs' cluster that its types lack. */
export interface OpenCluster extends Cluster {
  readonly connectionPoolBuilder: {
    /** Without an address that of the next one that the client was given. */
    build(address?: Pick<ConnectionPool, 'host' | 'port' | 'rack'>): Promise<ConnectionPool>;
  };
  readonly brokerPool: {
    readonly brokers: Record<string, OpenBroker>;
    /** The first one that was reached; often one of `brokers`. */
    readonly seedBroker?: OpenBroker;
    readonly rootLogger: unknown;
    readonly versions: unknown;
    createBroker(options: object): OpenBroker;
    /** Unlike that of the cluster it does not ask for new metadata where the broker cannot be reached. */
    findBroker(node: { readonly nodeId: string }): Promise<OpenBroker>;
    /** For the newest metadata. */
    findConnectedBroker(): Promise<Pick<OpenBroker, 'metadata'>>;
  };
}

/**
 * A cluster (metadata, connections, fetch) without a consumer group. kafkajs hands its cluster to the makers of
 * partition assigners and nowhere else; the consumer made for it is never run, so nothing joins a group.
 */
export function openCluster(kafka: Kafka, limits: LogClientLimits): OpenCluster {
  let opened: Cluster | null = null;
  kafka.consumer({
    groupId: 'unused',
    readUncommitted: true,
    allowAutoTopicCreation: false,
    retry: retryOptions(limits),
    partitionAssigners: [
      ({ cluster }) => {
        opened = cluster;
        return {
          name: 'unused',
          version: 0,
          assign: async () => [],
          protocol: () => ({ name: 'unused', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  const cluster = present<OpenCluster>(opened, 'the cluster of a consumer');
  const { brokerPool, connectionPoolBuilder } = cluster;
  const { build } = connectionPoolBuilder;
  connectionPoolBuilder.build = async (address) => withBlockingConnection(await build(address));
  const { createBroker } = brokerPool;
  brokerPool.createBroker = (options) => withNextAddress(withAllLeaders(createBroker(options)));
  return cluster;
}

/**
 * A first broker that takes a connection and answers nothing is as good as none: kafkajs goes on to the next address
 * for errors of connections only, and otherwise keeps a connection of which it knows no versions.
 */
function withNextAddress(broker: OpenBroker): OpenBroker {
  const { connect } = broker;
  broker.connect = async () => {
    try {
      await connect.call(broker);
    } catch (error) {
      if (broker.versions !== null) throw error;
      endConnections(broker.connectionPool, error);
      const name = 'KafkaJSConnectionError';
      throw Object.assign(new Error('no versions', { cause: error }), { name, retriable: true });
    }
  };
  return broker;
}

/**
 * The answer of a broker at one of the addresses that the client was given, each time the next of them. Rejects with
 * `NoResponse` after so many milliseconds.
 */
export async function viaBootstrapServer<T>(
  cluster: OpenCluster,
  question: (broker: OpenBroker) => Promise<T>,
  longestMs: number,
): Promise<T> {
  const answering = askAtGivenAddress(cluster, question);
  return await within(answering, longestMs, () => new NoResponse('no answer'));
}

async function askAtGivenAddress<T>(
  { brokerPool, connectionPoolBuilder }: OpenCluster,
  question: (broker: OpenBroker) => Promise<T>,
): Promise<T> {
  const connectionPool = await connectionPoolBuilder.build();
  const broker = brokerPool.createBroker({ logger: brokerPool.rootLogger, connectionPool });
  try {
    await broker.connect();
    return await question(broker);
  } finally {
    endConnections(connectionPool, new Error('it is answered'));
  }
}

/** Requests that a broker may hold back: until there are records, and until all copies have them. */
const heldBack: ReadonlySet<number> = new Set([0, 1]);
/** Connections of a pool. */
const [questions, waits] = [0, 1];

/**
 * Connections of which one has all that a broker may hold back, because it answers the requests of one connection in
 * their order. kafkajs keeps the second one for fetches only, and a question would wait for an append.
 */
function withBlockingConnection(pool: ConnectionPool): ConnectionPool {
  const open = pool.getConnection.bind(pool);
  const opening = new Map<number, Promise<BrokerConnection>>();
  // kafkajs opens a connection once for each request that finds it closed, and forgets all but the last.
  pool.getConnection = (index = questions) => {
    const running = opening.get(index) ?? open(index).finally(() => opening.delete(index));
    opening.set(index, running);
    return running;
  };
  pool.getConnectionByRequest = ({ request: { apiKey } }) =>
    pool.getConnection(heldBack.has(apiKey) ? waits : questions);
  return pool;
}

/** Opens the connection of requests that a broker may hold back, and signs in on it. Rejects with kafkajs' errors. */
export async function openForWaits({ connectionPool }: OpenBroker): Promise<void> {
  const connection = await connectionPool.getConnection(waits);
  await connection.authenticate();
}

/**
 * A broker whose metadata says what it knows. kafkajs throws a whole answer away, of all topics asked for, when one
 * partition has no leader: its leader is -1 then.
 */
function withAllLeaders(broker: OpenBroker): OpenBroker {
  const { metadata } = broker;
  const lookupRequest: OpenBroker['lookupRequest'] = (key, definition) => (content) => {
    const { request, response } = broker.lookupRequest(key, definition)(content);
    const parse = (answer: unknown) => response.parse(withoutPartitionErrors(answer));
    return { request, response: { ...response, parse } };
  };
  const asking: OpenBroker = Object.create(broker, { lookupRequest: { value: lookupRequest } });
  broker.metadata = (topics) => metadata.call(asking, topics);
  return broker;
}

interface MetadataResponse {
  readonly topicMetadata: readonly {
    readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[];
  }[];
}

/** Errors of a whole topic stay. */
function withoutPartitionErrors(answer: unknown): MetadataResponse {
  const { topicMetadata, ...rest } = answer as MetadataResponse;
  const topics = topicMetadata.map(({ partitionMetadata, ...topic }) => ({
    ...topic,
    partitionMetadata: partitionMetadata.map((one) => ({ ...one, partitionErrorCode: 0 })),
  }));
  return { ...rest, topicMetadata: topics };
}

/** A broker and its address, in kafkajs' metadata. */
export type BrokerAddress = BrokerMetadata['brokers'][number];

/**
 * Makes a broker known that the cluster does not have yet, or has at another address. kafkajs' own look at the metadata
 * would do so, too, but it waits for the pending requests of brokers that are away.
 */
export async function addBroker(cluster: OpenCluster, address: BrokerAddress): Promise<void> {
  const { brokerPool, connectionPoolBuilder } = cluster;
  const { nodeId, host, port, rack } = address;
  const isThere = () => {
    const pool = brokerPool.brokers[nodeId]?.connectionPool;
    return pool?.host === host && pool.port === port;
  };
  if (isThere()) return;
  const connectionPool = await connectionPoolBuilder.build({ host, port, rack });
  if (isThere()) return;
  const former = brokerPool.brokers[nodeId];
  const { rootLogger: logger, versions } = brokerPool;
  const broker = brokerPool.createBroker({ logger, versions, connectionPool, nodeId });
  brokerPool.brokers[nodeId] = broker;
  if (former !== undefined) endConnections(former.connectionPool, new Error('it has moved'));
}

/**
 * New connections for a broker whose old ones lost an answer; requests on these fail with the cause. kafkajs itself
 * waits for all their answers before it closes them, takes new requests on them meanwhile, and then closes what it has
 * opened for these.
 */
export async function replaceConnections(
  cluster: OpenCluster,
  {
    broker,
    connectionPool: old,
  }: Pick<OpenBroker, 'connectionPool'> & { readonly broker: OpenBroker },
  cause: unknown,
): Promise<void> {
  const { host, port, rack } = old;
  const fresh = await cluster.connectionPoolBuilder.build({ host, port, rack });
  if (broker.connectionPool !== old) return;
  broker.connectionPool = fresh;
  endConnections(old, cause);
}

/**
 * Has a group member ask more than one broker. kafkajs waits for the one that it comes upon, however long that stands
 * still: for the newest metadata, and for the coordinator. Its first address alone is waited for a whole request. No
 * broker is asked any more once `isOver()`.
 */
export function withoutOneBroker(
  cluster: OpenCluster,
  { leaderLookMs, requestTimeoutMs }: Pick<LogClientLimits, 'leaderLookMs' | 'requestTimeoutMs'>,
  isOver: () => boolean,
): void {
  const { brokerPool, findGroupCoordinatorMetadata } = cluster;
  const { createBroker, findConnectedBroker } = brokerPool;
  const nodes = () => Object.keys(brokerPool.brokers);
  const ask = <T>(question: (broker: OpenBroker) => Promise<T>): Promise<T> => {
    const all = nodes();
    const asks = rotated(all, Math.floor(Math.random() * all.length)).map(
      (nodeId) => async () => await question(await brokerPool.findBroker({ nodeId })),
    );
    // All may have other addresses by now.
    const askGiven = () => viaBootstrapServer(cluster, question, requestTimeoutMs);
    const unlessOver = (task: () => Promise<T>) => async () => {
      if (isOver()) throw new NoResponse('it is over');
      return await task();
    };
    const isFinal = (error: unknown) => !isPassing(error);
    return firstAnswer([...asks, askGiven].map(unlessOver), leaderLookMs, isFinal);
  };
  brokerPool.createBroker = (options) => withNextAddress(createBroker(options));
  brokerPool.findConnectedBroker = async () => {
    if (nodes().length === 0) return await findConnectedBroker.call(brokerPool);
    return { metadata: (topics) => ask((broker) => broker.metadata(topics)) };
  };
  cluster.findGroupCoordinatorMetadata = (group) => {
    if (nodes().length === 0) return findGroupCoordinatorMetadata.call(cluster, group);
    return ask((broker) => broker.findGroupCoordinator(group));
  };
}

/** Calls back when a member sends the last request of a join, by which its coordinator hears it. */
export function withSyncs(cluster: Cluster, onSync: () => void): void {
  const { findGroupCoordinator } = cluster;
  cluster.findGroupCoordinator = async (group) => {
    const broker = (await findGroupCoordinator.call(cluster, group)) as OpenBroker;
    const syncGroup: OpenBroker['syncGroup'] = (request) => {
      onSync();
      return broker.syncGroup(request);
    };
    return Object.create(broker, { syncGroup: { value: syncGroup } });
  };
}

/** All values, beginning with another one for each number. */
export function rotated<T>(values: readonly T[], by: number): readonly T[] {
  const first = values.length === 0 ? 0 : by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

/** Number of the one loop of a member that reads nothing; no broker has it, and -1 stands for no leader. */
const noBroker = -2;

/**
 * Keeps everything out of the way of a group member that reads nothing. kafkajs sends its heartbeats from a loop for
 * each broker, after that has looked up the offsets of all partitions at their leaders: one that stands still would
 * cost the session. With one loop, whose number is no broker's, there is also none to replace when brokers come and go,
 * which spins for ever when the consumer is stopped meanwhile.
 */
export function withoutReading(cluster: Cluster): void {
  cluster.getNodeIds = () => [noBroker];
  cluster.fetchTopicsOffset = async (topics) =>
    topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition }) => ({ partition, offset: '0' })),
    }));
}

/** Ends all connections of a cluster at once; requests on them fail with the cause. */
export function cutConnections(
  { brokerPool }: Pick<OpenCluster, 'brokerPool'>,
  cause: unknown,
): void {
  const { brokers, seedBroker } = brokerPool;
  const all = new Set([...Object.values(brokers), ...(seedBroker ? [seedBroker] : [])]);
  for (const { connectionPool } of all) endConnections(connectionPool, cause);
}

function endConnections({ pool }: ConnectionPool, cause: unknown): void {
  for (const connection of pool) {
    connection.rejectRequests(cause);
    void connection.disconnect();
    connection.socket?.destroy();
  }
}
