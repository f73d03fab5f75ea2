import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { kafkaCluster } from '@pm/deploy/local/engines/kafka-broker';
import type { KafkaNode } from '@pm/deploy/local/engines/kafka-settings';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { holdFreePorts, loopback } from '@pm/deploy/local/ports';
import { Supervisor } from '@pm/deploy/local/supervisor';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { createDeferred, type Deferred } from '../../../kit/test/kafka/deferred.ts';
import { FaultProxy } from '../../../kit/test/kafka/fault-proxy.ts';

/** Leader (-1 for none) and copies in sync of a partition. */
interface PartitionState {
  readonly leader: number;
  readonly inSync: readonly number[];
}

const nodeIds = [1, 2, 3] as const;
const portsPerNode = 3;
/** Longest wait for leaders and copies, milliseconds. */
const settledMaxMs = 60_000;

/** Three brokers on free ports, each behind a proxy whose address it advertises to clients. */
export class ClusterUnderTest {
  /** Folder of all data of the cluster; it is removed at the end. */
  readonly folder: string;
  readonly #supervisor: Supervisor;
  readonly #proxies: ReadonlyMap<number, FaultProxy>;
  /** Gates of the brokers that must stay down, by node id. */
  readonly #gates = new Map<number, Deferred>();
  readonly #returns = new Map<number, Promise<void>>();
  readonly #admin: Admin;
  /** Lines of the supervisor. */
  readonly lines: string[];

  private constructor(parts: {
    readonly folder: string;
    readonly lines: string[];
    readonly supervisor: Supervisor;
    readonly proxies: ReadonlyMap<number, FaultProxy>;
  }) {
    this.folder = parts.folder;
    this.#supervisor = parts.supervisor;
    this.#proxies = parts.proxies;
    this.lines = parts.lines;
    this.#admin = new Kafka({
      brokers: [...this.addresses],
      clientId: 'watch',
      logLevel: logLevel.NOTHING,
      requestTimeout: 1_000,
      retry: { initialRetryTime: 50, maxRetryTime: 200, retries: 100 },
    }).admin();
  }

  /** Resolves when all of them take requests. */
  static async open(): Promise<ClusterUnderTest> {
    const folder = mkdtempSync(join(tmpdir(), 'pm-brokers-'));
    const lines: string[] = [];
    const progress = (line: string) => void lines.push(line);
    const supervisor = await Supervisor.open({
      dataDir: folder,
      progress,
      onFatal: ({ message }) => progress(message),
    });
    const held = await holdFreePorts(nodeIds.length * portsPerNode);
    await held.release();
    const proxies = new Map<number, FaultProxy>();
    const nodes: KafkaNode[] = [];
    for (const [index, id] of nodeIds.entries()) {
      const [port = 0, controllerPort = 0, behind = 0] = held.ports.slice(index * portsPerNode);
      const proxy = await FaultProxy.open(`${loopback}:${behind}`);
      proxies.set(id, proxy);
      const proxied = { port: behind, advertisedPort: proxy.address.port };
      nodes.push({ id, port, controllerPort, proxied });
    }
    const cluster = new ClusterUnderTest({ folder, lines, supervisor, proxies });
    try {
      const jars = await ensureEngineJars(defaultCacheDir, progress);
      const places = { jars, dataDir: folder, logDir: join(folder, 'logs') };
      await supervisor.start(
        kafkaCluster({ ...places, nodes }).map((broker, index) => ({
          ...broker,
          prepare: async () => {
            await cluster.#gates.get(nodes[index]?.id ?? 0)?.promise;
            await broker.prepare();
          },
        })),
      );
      await cluster.#admin.connect();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw new Error(lines.slice(-20).join('\n'), { cause: error });
    }
  }

  /** `host:port` of the proxies. */
  get addresses(): readonly string[] {
    return nodeIds.map((id) => `${loopback}:${this.proxy(id).address.port}`);
  }

  get nodes(): readonly number[] {
    return nodeIds;
  }

  proxy(node: number): FaultProxy {
    const proxy = this.#proxies.get(node);
    if (proxy === undefined) throw new Error(`no broker ${node}`);
    return proxy;
  }

  /** SIGKILL; it stays away until `start`. */
  kill(node: number): void {
    this.#gates.set(node, createDeferred());
    this.#signal(node, 'SIGKILL');
    const back = this.#supervisor.restart(nameOf(node));
    back.catch(() => undefined);
    this.#returns.set(node, back);
  }

  /** Resolves when a broker that was killed takes requests again. */
  async start(node: number): Promise<void> {
    this.#gates.get(node)?.resolve();
    this.#gates.delete(node);
    await this.#returns.get(node);
  }

  /** A pause of the whole process, as by a hypervisor. */
  freeze(node: number): void {
    this.#signal(node, 'SIGSTOP');
  }

  thaw(node: number): void {
    this.#signal(node, 'SIGCONT');
  }

  /** Asked again while it is not answered within the limit of a request, as on a busy machine. */
  async partitionsOf(topic: string): Promise<ReadonlyMap<number, PartitionState>> {
    const endMs = performance.now() + settledMaxMs;
    const ask = (): Promise<ReadonlyMap<number, PartitionState>> =>
      this.#read(topic).catch((error: unknown) => {
        if (performance.now() > endMs) throw error;
        return ask();
      });
    return await ask();
  }

  async #read(topic: string): Promise<ReadonlyMap<number, PartitionState>> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics.flatMap((one) => one.partitions);
    return new Map(
      partitions.map(({ partitionId, leader, isr }) => [partitionId, { leader, inSync: isr }]),
    );
  }

  /** Resolves when it holds for each partition of the topics. */
  async until(
    what: string,
    topics: readonly string[],
    holds: (state: PartitionState) => boolean,
  ): Promise<void> {
    const endMs = performance.now() + settledMaxMs;
    for (;;) {
      const found = await Promise.all(
        topics.map((topic) => this.partitionsOf(topic).catch(() => null)),
      );
      const states = found.flatMap((one) => (one === null ? [null] : [...one.values()]));
      if (states.every((state) => state !== null && holds(state))) return;
      if (performance.now() > endMs)
        throw new Error(`${what}: not in ${settledMaxMs} ms: ${JSON.stringify(states)}`);
      await pause(100);
    }
  }

  /** Every partition has a leader and all its copies. */
  untilInSync(topics: readonly string[]): Promise<void> {
    const isWhole = ({ leader, inSync }: PartitionState) =>
      leader > 0 && inSync.length === nodeIds.length;
    return this.until('all copies in sync', topics, isWhole);
  }

  async close(): Promise<void> {
    for (const gate of this.#gates.values()) gate.resolve();
    await this.#admin.disconnect();
    this.#supervisor.killAll();
    await this.#supervisor.stop();
    for (const proxy of this.#proxies.values()) await proxy.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #signal(node: number, signal: NodeJS.Signals): void {
    if (!this.#supervisor.kill(nameOf(node), signal)) throw new Error(`${node} does not run`);
  }
}

const nameOf = (node: number): string => `kafka-${node}`;
