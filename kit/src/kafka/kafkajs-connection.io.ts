import net from 'node:net';
import tls from 'node:tls';
import { Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import { type KafkaSecurity, readBounded } from '../config/index.ts';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { FrameAssembler } from './frame-assembler.ts';
import { kafkajsLog } from './kafkajs-log.io.ts';
import { restIdleConnections } from './kafkajs-timers.io.ts';
import { type LogClientLimits, retriesWithin } from './limits.ts';

/** How to reach the log. */
export interface LogClientOptions extends KafkaSecurity {
  /** `host:port` of one or more brokers; the others are learnt from these. */
  readonly brokers: readonly string[];
  /** Name the brokers log for this client. */
  readonly clientId: string;
  readonly log: Log;
  readonly limits?: Partial<LogClientLimits>;
  /** Where to connect instead of an advertised address: for port forwards, and for faults in tests. */
  route?(address: { host: string; port: number }): { host: string; port: number };
}

/**
 * The connections of a client, whatever opened them: kafkajs waits for answers before it closes one, and goes on with
 * what was begun before, which connects again.
 */
export class ClientSockets {
  readonly #open = new Set<net.Socket>();
  #isClosed = false;

  /** Ends at once when the client is closed. */
  add(socket: net.Socket): void {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    if (this.#isClosed) socket.destroy(closed());
  }

  /** Ends all connections, and those that are opened later. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#open) socket.destroy(closed());
  }
}

const closed = () => new Error('the client is closed');

const keepAliveMs = 60_000;
/** Bytes of a token file. */
const tokenBytesMax = 64 << 10;

/**
 * kafkajs with short, bounded retries, our log and our sockets, which `sockets` ends. Opens no connection yet.
 */
export function openKafkajs(
  options: LogClientOptions,
  limits: LogClientLimits,
  sockets = new ClientSockets(),
): Kafka {
  restIdleConnections();
  const config: KafkaConfig = {
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: limits.connectTimeoutMs,
    authenticationTimeout: limits.requestTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    retry: { ...retryOptions(limits), retries: limits.connectionRetries },
    logLevel: logLevel.INFO,
    logCreator: kafkajsLog(options.log),
    socketFactory: socketFactory(options, sockets),
  };
  if (options.ssl !== undefined) config.ssl = { ...options.ssl };
  if (options.sasl !== undefined) config.sasl = saslOptions(options.sasl);
  return new Kafka(config);
}

/** A token is read again at each sign-in: its issuer replaces the file before it expires. */
function saslOptions(sasl: NonNullable<KafkaSecurity['sasl']>): SASLOptions {
  if (sasl.mechanism !== 'oauthbearer') return { ...sasl };
  const { mechanism, tokenFile, extensions = {} } = sasl;
  // The types of kafkajs lack the extensions, which it sends.
  const read = () => ({ value: readToken(tokenFile), extensions });
  return { mechanism, oauthBearerProvider: async () => read() };
}

function readToken(file: string): string {
  try {
    return readBounded(file, tokenBytesMax).trim();
  } catch (error) {
    const reason = String(Reflect.get(Object(error), 'code') ?? 'too large');
    const facts = { variable: 'PM_KAFKA_SASL_TOKEN_FILE', reason };
    throw new Fault('kafka_token_unreadable', 'retry', { facts });
  }
}

/** Waits between tries in kafkajs' shape. */
export function retryOptions(limits: LogClientLimits) {
  return {
    initialRetryTime: limits.initialRetryMs,
    maxRetryTime: limits.maxRetryMs,
    retries: retriesWithin(limits),
    factor: 0.2,
    multiplier: 2,
  };
}

/** Sockets as kafkajs opens them, with the address put through `route` first. */
function socketFactory(
  options: LogClientOptions,
  sockets: ClientSockets,
): NonNullable<KafkaConfig['socketFactory']> {
  const route = options.route ?? ((address: { host: string; port: number }) => address);
  return ({ host, port, ssl, onConnect }) => {
    const target = route({ host, port });
    const servername = net.isIP(host) === 0 ? { servername: host } : {};
    const socket = ssl
      ? tls.connect({ ...target, ...servername, ...ssl }, onConnect)
      : connectPlain(target, onConnect);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    sockets.add(socket);
    return socket;
  };
}

/** All connections read into it in turn: what was read is copied at once. */
const readBuffer = Buffer.allocUnsafeSlow(256 << 10);

/** A connection that gives kafkajs whole frames; without TLS, which Node reads otherwise. */
function connectPlain(target: { host: string; port: number }, onConnect: () => void): net.Socket {
  const assembler = new FrameAssembler();
  const callback = (bytes: number, buffer: Uint8Array) => {
    const frames = assembler.push(buffer.subarray(0, bytes));
    if (frames === null) socket.destroy(new Error('an answer of an impossible length'));
    else for (const frame of frames) socket.emit('data', frame);
    return true;
  };
  const onread = { buffer: readBuffer, callback };
  const socket = net.connect({ ...target, onread }, onConnect);
  return socket;
}
