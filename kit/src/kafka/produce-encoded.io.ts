import type { Socket } from 'node:net';
import { present } from '../assert/index.ts';
import type { BrokerConnection, ConnectionPool, OpenBroker } from './kafkajs-cluster.io.ts';
import { NotReached } from './not-reached.ts';
import { produceVersionMin } from './produce-request.ts';
import type { ProduceResponse } from './result-coverage.ts';

/** Methods of a broker that are used here. */
export interface EncodingBroker extends Pick<OpenBroker, 'produce' | 'lookupRequest'> {
  readonly connectionPool: Pick<ConnectionPool, 'getConnectionByRequest'>;
}

type Pool = EncodingBroker['connectionPool'];

/**
 * kafkajs' `produce` with a body of ours. kafkajs finds the version, signs in, numbers and queues the request and reads
 * the answer, on objects that stand for its broker, pool and connection; its encoder writes the header only, and the
 * body goes to the socket after it, so that it is not copied twice more. Throws `NotReached` for a broker that is older
 * than the layout of the body.
 */
export function sendEncoded(broker: EncodingBroker, body: Buffer): Promise<ProduceResponse> {
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

function connectionWith(connection: BrokerConnection, body: Buffer): BrokerConnection {
  const write = (header: Buffer) => {
    const socket = present(connection.socket, 'the socket of a connection');
    writeBoth(socket, Buffer.from(header), body);
  };
  return Object.create(connection, {
    socket: { value: { write } },
    // It changes a field of the connection, which must be that of all requests.
    nextCorrelationId: { value: () => connection.nextCorrelationId() },
  });
}

/** The header begins with the bytes of the request after that number. */
function writeBoth(socket: Socket, header: Buffer, body: Buffer): void {
  header.writeInt32BE(header.readInt32BE(0) + body.length, 0);
  socket.cork();
  socket.write(header);
  socket.write(body);
  socket.uncork();
}
