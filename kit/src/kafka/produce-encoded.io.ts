import type { Broker } from 'kafkajs';
import { NotReached } from './not-reached.ts';
import { produceVersionMin } from './produce-request.ts';
import type { ProduceAnswer } from './result-coverage.ts';

/** The parts of kafkajs' broker, pool and connection that are used here; its types lack them. */
export interface EncodingBroker extends Pick<Broker, 'produce'> {
  readonly connectionPool: Pool;
  /** Finds the newest version of a request that both sides speak. */
  lookupRequest(key: number, definition: unknown): (content: object) => Protocol;
}

interface Protocol {
  readonly request: { readonly apiVersion: number; encode(): Promise<unknown> };
  readonly response: unknown;
}

interface Pool {
  getConnectionByRequest(protocol: Protocol): Promise<Connection>;
}

interface Connection {
  readonly socket: Pick<import('node:net').Socket, 'cork' | 'uncork' | 'write'>;
  nextCorrelationId(): number;
}

/**
 * kafkajs' `produce` with a body of ours. kafkajs finds the version, signs in, numbers and queues the request and reads
 * the answer, on objects that stand for its broker, pool and connection; its encoder writes the header only, and the
 * body goes to the socket after it, so that it is not copied twice more. Throws `NotReached` for a broker that is older
 * than the layout of the body.
 */
export function sendEncoded(broker: EncodingBroker, body: Buffer): Promise<ProduceAnswer> {
  const writer: EncodingBroker = Object.create(broker, {
    lookupRequest: { value: withoutBody(broker) },
    connectionPool: { value: poolWith(broker.connectionPool, body) },
  });
  return writer.produce({ topicData: [], acks: -1 });
}

const nothing = Buffer.alloc(0);

/** Requests whose encoding is empty: two fields are what kafkajs reads of an encoder. */
function withoutBody(broker: EncodingBroker): EncodingBroker['lookupRequest'] {
  return (key, definition) => {
    const make = broker.lookupRequest(key, definition);
    return (content) => {
      const { request, response } = make(content);
      if (request.apiVersion < produceVersionMin)
        throw new NotReached(new Error(`produce requests of version ${request.apiVersion}`));
      const encode = async () => ({ buf: nothing, buffer: nothing });
      return { request: { ...request, encode }, response };
    };
  };
}

function poolWith(pool: Pool, body: Buffer): Pool {
  const getConnectionByRequest: Pool['getConnectionByRequest'] = async (protocol) =>
    connectionWith(await pool.getConnectionByRequest(protocol), body);
  return Object.create(pool, { getConnectionByRequest: { value: getConnectionByRequest } });
}

function connectionWith(connection: Connection, body: Buffer): Connection {
  const write = (header: Buffer) => writeBoth(connection.socket, Buffer.from(header), body);
  return Object.create(connection, {
    socket: { value: { write } },
    // It changes a field of the connection, which must be that of all requests.
    nextCorrelationId: { value: () => connection.nextCorrelationId() },
  });
}

/** The header begins with the bytes of the request after that number. */
function writeBoth(socket: Connection['socket'], header: Buffer, body: Buffer): void {
  header.writeInt32BE(header.readInt32BE(0) + body.length, 0);
  socket.cork();
  socket.write(header);
  socket.write(body);
  socket.uncork();
}
