import type { Kafka } from 'kafkajs';
import { Fault, within } from '../fault/index.ts';
import {
  addBroker,
  type OpenBroker,
  type OpenCluster,
  openCluster,
  replaceConnections,
  rotated,
  viaBootstrapServer,
} from './kafkajs-cluster.io.ts';
import { isAnswer, NoResponse } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { NotReached } from './not-reached.ts';
import { placeKey } from './send-queue.ts';
import { TargetTopics } from './target-topics.io.ts';
import { unlessMoved } from './unless-moved.io.ts';
import { firstAnswer } from './waiting.io.ts';

/** A request to the broker that leads partitions. */
export interface LeaderRequest<T> {
  readonly node: string;
  /** Partitions of the request; the broker leads all of them. */
  readonly places: readonly { readonly topic: string; readonly partition: number }[];
  /** Longest wait of the broker before it answers, milliseconds. */
  readonly brokerWaitMs: number;
  /** Called once the broker is connected. */
  send(broker: OpenBroker): Promise<T>;
}

/**
 * The brokers of a cluster: who leads what, questions that any of them answers, and requests to a leader. kafkajs' own
 * look at the metadata asks one connected broker at random and waits for it however long it stands still; here each
 * wait has a limit, and brokers that gave no answer are asked last. Connections are kafkajs'.
 */
export class Brokers {
  readonly #cluster: OpenCluster;
  readonly #limits: LogClientLimits;
  readonly #targets: TargetTopics;
  /** Leader of each known partition; null while it has none. */
  readonly #leaders = new Map<string, string | null>();
  /** Leader of each partition that has one, by topic. */
  readonly #led = new Map<string, ReadonlyMap<number, string>>();
  /** Brokers whose last request failed without an answer: others are asked first. */
  readonly #suspects = new Set<string>();
  /** Number of the look that each topic's leaders are of: an answer to an earlier one changes nothing. */
  readonly #looks = new Map<string, number>();
  readonly #onChange = new Set<() => void>();
  #looked = 0;
  /** The look at all known topics that is running. */
  #all: Promise<void> | null = null;
  #asked = 0;
  #isClosed = false;

  constructor(kafka: Kafka, limits: LogClientLimits) {
    this.#cluster = openCluster(kafka, limits);
    this.#targets = new TargetTopics(this.#cluster);
    this.#limits = limits;
  }

  async connect(): Promise<void> {
    await this.#cluster.connect();
  }

  async disconnect(): Promise<void> {
    this.#isClosed = true;
    await this.#cluster.disconnect();
  }

  /**
   * The broker that leads a partition (`placeKey`) by the newest metadata; null while none does, undefined when the
   * partition is not known.
   */
  leaderOf(key: string): string | null | undefined {
    return this.#leaders.get(key);
  }

  /** Leader of each partition of a topic by the newest metadata; a partition without a leader is absent. */
  leaders(topic: string): ReadonlyMap<number, string> {
    return this.#led.get(topic) ?? noLeaders;
  }

  /** Calls back after each look, of whatever request, that has found other leaders. */
  onLeaders(changed: () => void): void {
    this.#onChange.add(changed);
  }

  /** New connections to a broker that answers nothing; requests on the old ones fail. */
  async renew(node: string): Promise<void> {
    const broker = this.#cluster.brokerPool.brokers[node];
    if (broker === undefined) return;
    this.#suspects.add(node);
    const { connectionPool } = broker;
    const cause = new NoResponse('no answer');
    await replaceConnections(this.#cluster, { broker, connectionPool }, cause);
  }

  /**
   * Loads the partitions and leaders of these topics, and with those that are known of all known ones: what a lost
   * broker led is on several topics. Rejects with the errors of kafkajs, also for an unknown topic.
   */
  async load(topics: readonly string[]): Promise<void> {
    const added = topics.filter((topic) => !this.#led.has(topic));
    const loads = added.map((topic) => this.#add(topic));
    if (added.length < topics.length) loads.push(this.#reload(topics));
    await Promise.all(loads);
  }

  /** Whether the newest metadata name one broker: then nothing else can lead. */
  isAlone(): boolean {
    return this.#cluster.getNodeIds().length === 1;
  }

  /** Looks up the leaders of all known topics. */
  async refresh(): Promise<void> {
    if (this.#led.size > 0) await this.#reload([]);
  }

  /**
   * Asks one broker, and after each `leaderLookMs` without an answer one more, at last one of the addresses that the
   * client was given: all may have others by now. The first answer counts, also one that is an error of the protocol.
   */
  async ask<T>(question: (broker: OpenBroker) => Promise<T>): Promise<T> {
    this.#assertOpen();
    const { requestTimeoutMs, leaderLookMs } = this.#limits;
    const asks = this.#inTurn().map((node) => async () => {
      const broker = await this.#find(node);
      return await this.#watched(node, question(broker), requestTimeoutMs);
    });
    const askGiven = () => viaBootstrapServer(this.#cluster, question, requestTimeoutMs);
    return await firstAnswer([...asks, askGiven], leaderLookMs, isAnswer);
  }

  /**
   * The answer of a leader. Rejects with `NotReached`, with `LeaderMoved` when it is silent and leads nothing of this
   * any more, or with an error of kafkajs.
   */
  async askLeader<T>({ node, places, brokerWaitMs, send }: LeaderRequest<T>): Promise<T> {
    const isSuspect = this.#suspects.has(node);
    const broker = await this.#find(node).catch((error: unknown) => {
      throw new NotReached(error);
    });
    const { connectionPool } = broker;
    const { requestTimeoutMs, silenceMs, leaderLookMs } = this.#limits;
    // kafkajs ends a request in time, but not one whose connection it closes at that moment.
    const lateMs = brokerWaitMs + requestTimeoutMs * 2;
    const moved = {
      silenceMs: brokerWaitMs + (isSuspect ? leaderLookMs : silenceMs),
      look: () => {
        this.#suspects.add(node);
        return this.refresh();
      },
      hasMoved: () => places.every((place) => this.#leaders.get(placeKey(place)) !== node),
    };
    const answering = this.#watched(node, send(broker), lateMs);
    return await unlessMoved(answering, moved, this.#limits).catch((error: unknown) => {
      // Its answer may still come, so the connection is not used again.
      if (!isAnswer(error) && !(error instanceof NotReached))
        void replaceConnections(this.#cluster, { broker, connectionPool }, error);
      throw error;
    });
  }

  /** kafkajs learns the brokers with the first topics. */
  async #add(topic: string): Promise<void> {
    if (this.#cluster.getNodeIds().length > 0) {
      await this.#look([topic]);
      return;
    }
    this.#assertOpen();
    await this.#targets.add(topic);
    this.#learn(topic, this.#cluster.findTopicPartitionMetadata(topic));
  }

  /** One question for all known topics; one that is gone or refused is an error for those who named it. */
  async #reload(named: readonly string[]): Promise<void> {
    await this.#lookAtAll().catch(async (error: unknown) => {
      if (!isAnswer(error)) throw error;
      const looks = [...this.#led.keys()].map((topic) =>
        this.#look([topic]).catch((failure: unknown) => {
          if (!isAnswer(failure) || named.includes(topic)) throw failure;
        }),
      );
      await Promise.all(looks);
    });
  }

  /** Callers at the same time share a look: many ask while no broker answers. */
  #lookAtAll(): Promise<void> {
    this.#all ??= this.#look([...this.#led.keys()]).finally(() => {
      this.#all = null;
    });
    return this.#all;
  }

  async #look(topics: readonly string[]): Promise<void> {
    this.#looked += 1;
    const look = this.#looked;
    const { brokers, topicMetadata } = await this.ask((broker) => broker.metadata([...topics]));
    const isNews = ({ topic }: { readonly topic: string }) => look > (this.#looks.get(topic) ?? 0);
    const news = topicMetadata.filter(isNews);
    if (news.length === 0) return;
    await Promise.all(brokers.map((address) => addBroker(this.#cluster, address)));
    for (const { topic, partitionMetadata } of news.filter(isNews)) {
      this.#looks.set(topic, look);
      this.#learn(topic, partitionMetadata);
    }
  }

  #learn(topic: string, found: readonly PartitionLeader[]): void {
    const led = new Map<number, string>();
    let hasChanged = false;
    for (const { partitionId: partition, leader } of found) {
      const node = leader < 0 ? null : String(leader);
      const key = placeKey({ topic, partition });
      hasChanged ||= this.#leaders.get(key) !== node;
      this.#leaders.set(key, node);
      if (node !== null) led.set(partition, node);
    }
    this.#led.set(topic, led);
    if (hasChanged) for (const changed of this.#onChange) changed();
  }

  /** All brokers, those that answered last time first, beginning with another one each time. */
  #inTurn(): readonly string[] {
    const nodes = this.#cluster.getNodeIds().map(String);
    this.#asked += 1;
    const all = rotated(nodes, this.#asked);
    const isSuspect = (node: string) => this.#suspects.has(node);
    return [...all.filter((node) => !isSuspect(node)), ...all.filter(isSuspect)];
  }

  async #find(node: string): Promise<OpenBroker> {
    this.#assertOpen();
    const late = () => new NoResponse('no connection');
    try {
      const finding = this.#cluster.brokerPool.findBroker({ nodeId: node });
      return await within(finding, this.#limits.connectTimeoutMs, late);
    } catch (error) {
      this.#suspects.add(node);
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Fault('client_closed', 'stop');
  }

  /** A question that is late says nothing of the connection: a busy broker answers its other requests. */
  async #watched<T>(node: string, request: Promise<T>, lateMs: number): Promise<T> {
    try {
      const answer = await within(request, lateMs, () => new NoResponse('no answer'));
      this.#suspects.delete(node);
      return answer;
    } catch (error) {
      if (isAnswer(error)) this.#suspects.delete(node);
      else this.#suspects.add(node);
      throw error;
    }
  }
}

/** The part of kafkajs' metadata of a partition that is used. */
interface PartitionLeader {
  readonly partitionId: number;
  readonly leader: number;
}

const noLeaders: ReadonlyMap<number, string> = new Map();
