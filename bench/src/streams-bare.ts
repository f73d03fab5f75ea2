import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { serveParent } from './child/child.ts';
import { deliverSlice, readersLeft } from './streams/deliver.ts';

export interface BareJob {
  /** By slice and record: the messages, each sent to every reader. */
  readonly slices: readonly (readonly (readonly string[])[])[];
  readonly perTurn: number;
}

const asText = { binary: false } as const;

/** The least work of a `ws` server to send given bytes to all its clients: the upper bound of a fan-out. */
await serveParent(async ({ slices, perTurn }: BareJob) => {
  const listener = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(listener, 'listening');
  const sockets = new Set<WebSocket>();
  listener.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const pieces = slices.map((records) =>
    records.map((texts) => texts.map((text) => Buffer.from(text))),
  );
  const deliver = (messages: readonly Buffer[]) => {
    for (const bytes of messages) for (const socket of sockets) socket.send(bytes, asText);
  };
  const server = { sockets, queuedBytes: () => 0, deliver };
  const work = async () => {
    const times = await deliverSlice(pieces.shift() ?? [], perTurn, server);
    if (pieces.length === 0) await readersLeft(server);
    return times;
  };
  const url = `ws://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return { info: url, work, rounds: slices.length };
});
