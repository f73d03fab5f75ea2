import { EventEmitter } from 'node:events';
import type { ConsumerConfig, Kafka } from 'kafkajs';

const events = {
  GROUP_JOIN: 'join',
  HEARTBEAT: 'heartbeat',
  CRASH: 'crash',
  REBALANCING: 'rebalancing',
};

/** A kafkajs consumer that does nothing but emit what the test says. */
export class ManualConsumer {
  readonly events = events;
  readonly calls: string[] = [];
  readonly memberId: string;
  readonly sessionMs: number;
  readonly #kafka: ManualKafka;
  readonly #emitter = new EventEmitter();

  constructor(kafka: ManualKafka, number: number, { sessionTimeout = 0 }: ConsumerConfig) {
    this.#kafka = kafka;
    this.memberId = `member-${number}`;
    this.sessionMs = sessionTimeout;
  }

  on(name: string, listener: (event: unknown) => void): void {
    this.#emitter.on(name, listener);
  }

  pause(): void {}

  async connect(): Promise<void> {
    this.calls.push('connect');
    await this.#kafka.onConnect(this);
  }

  async subscribe(): Promise<void> {
    this.calls.push('subscribe');
  }

  async run(): Promise<void> {
    this.calls.push('run');
    await this.#kafka.onRun(this);
  }

  async disconnect(): Promise<void> {
    this.calls.push('disconnect');
  }

  join(partitions: readonly number[] = [0, 1], standbys?: readonly number[], memberId?: string) {
    const memberAssignment = { t: partitions, ...(standbys && { s: standbys }) };
    const payload = { memberId: memberId ?? this.memberId, memberAssignment };
    this.#emitter.emit('join', { payload });
  }

  heartbeat(groupGenerationId = 1): void {
    const payload = { memberId: this.memberId, groupGenerationId };
    this.#emitter.emit('heartbeat', { payload });
  }

  rebalancing(): void {
    this.#emitter.emit('rebalancing', { payload: {} });
  }

  crash(type = '', name = 'Error'): void {
    const error = Object.assign(new Error('crash'), { type, name });
    this.#emitter.emit('crash', { payload: { error } });
  }
}

/** Makes such consumers; by default each joins at once. A look for the coordinator gets what the test says. */
export class ManualKafka {
  readonly consumers: ManualConsumer[] = [];
  coordinator = 1;
  partitions = 2;
  learnt = 0;
  onConnect: (consumer: ManualConsumer) => Promise<void> = async () => {};
  onRun: (consumer: ManualConsumer) => Promise<void> = async (consumer) => consumer.join();
  onLook: () => Promise<number> = async () => this.coordinator;

  /** The newest consumer. */
  get newest(): ManualConsumer {
    const newest = this.consumers.at(-1);
    if (newest === undefined) throw new Error('no consumer was made');
    return newest;
  }

  asKafka(): Pick<Kafka, 'consumer'> {
    const cluster = {
      brokerPool: { brokers: {}, createBroker: () => null },
      findGroupCoordinatorMetadata: async () => ({ coordinator: { nodeId: await this.onLook() } }),
      findTopicPartitionMetadata: () => Array.from({ length: this.partitions }),
      refreshMetadata: async () => {
        this.learnt += 1;
      },
    };
    const consumer = (config: ConsumerConfig) => {
      for (const assigner of config.partitionAssigners ?? [])
        assigner({ cluster } as unknown as Parameters<typeof assigner>[0]);
      const made = new ManualConsumer(this, this.consumers.length + 1, config);
      this.consumers.push(made);
      return made;
    };
    return { consumer } as unknown as Pick<Kafka, 'consumer'>;
  }
}
