import { failoverSettings, sessionSettings } from '../../setup/broker-settings.ts';
import { mebibyte } from '../managed-process.ts';
import { loopback } from '../ports.ts';

/** A broker that is a controller as well. */
export interface KafkaNode {
  /** From 1. */
  readonly id: number;
  /** Clients and other brokers connect here. */
  readonly port: number;
  readonly controllerPort: number;
  /** A listener more, whose clients are sent to another port: that of a proxy in front of it. */
  readonly proxied?: { readonly port: number; readonly advertisedPort: number };
}

type Settings = Readonly<Record<string, string | number>>;

const maxMessageBytes = 16 * mebibyte;
/** Copies of a topic, unless there are fewer brokers. */
const copiesMax = 3;

/** The properties of one of these brokers. */
export function kafkaSettings(
  node: KafkaNode,
  nodes: readonly KafkaNode[],
  logFolder: string,
): string {
  const values: Settings = {
    ...listeners(node, nodes),
    'log.dirs': logFolder.replaceAll('\\', '\\\\'),
    ...copies(Math.min(copiesMax, nodes.length)),
    ...(nodes.length === 1 ? {} : failoverSettings),
    ...sessionSettings,
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.num.partitions': 4,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'log.cleaner.dedupe.buffer.size': 16 * mebibyte,
    'message.max.bytes': maxMessageBytes,
    'replica.fetch.max.bytes': maxMessageBytes,
    // The log is the exchange's memory; a topic with limited retention sets it itself.
    'log.retention.ms': -1,
  };
  return `${Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}

function listeners(node: KafkaNode, nodes: readonly KafkaNode[]): Settings {
  const { id, port, controllerPort, proxied } = node;
  const voters = nodes.map((one) => `${one.id}@${loopback}:${one.controllerPort}`);
  const clients = (at: number | undefined) =>
    at === undefined ? '' : `,PROXIED://${loopback}:${at}`;
  const brokers = `PLAINTEXT://${loopback}:${port}`;
  const protocols = ['CONTROLLER', 'PLAINTEXT', ...(proxied ? ['PROXIED'] : [])];
  return {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': voters.join(),
    listeners: `${brokers},CONTROLLER://${loopback}:${controllerPort}${clients(proxied?.port)}`,
    'advertised.listeners': `${brokers}${clients(proxied?.advertisedPort)}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': protocols.map((name) => `${name}:PLAINTEXT`).join(),
  };
}

/** One broker may be lost, and never one that alone has what was acknowledged. */
function copies(count: number): Settings {
  const inSync = Math.max(1, count - 1);
  return {
    'offsets.topic.replication.factor': count,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': count,
    'share.coordinator.state.topic.min.isr': inSync,
    'default.replication.factor': count,
    'min.insync.replicas': inSync,
    'unclean.leader.election.enable': 'false',
  };
}
