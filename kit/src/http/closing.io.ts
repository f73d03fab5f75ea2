import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from './app.io.ts';

/** How long a stop waits for clients to take responses that were written before it, milliseconds. */
const takenMaxMs = 2_000;

/**
 * Ends connections that are busy when the app closes once their response is taken. Node ends those that are idle at
 * that moment, and Fastify says `Connection: close` in responses to later requests; others would be kept alive for as
 * long as a proxy may hold them, and `close` waits for all. Node also takes a connection for idle whose response was
 * written and is not taken yet: the listener closes after those. `sockets`: open connections. Returns what says it in a
 * response that is about to be sent.
 */
export function endBusyConnections(
  app: HttpApp,
  sockets: () => Iterable<Socket>,
): (request: FastifyRequest, reply: FastifyReply) => void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    const written: Promise<unknown>[] = [];
    for (const socket of sockets()) {
      const response = responseOf(socket);
      if (response === null) continue;
      const isWritten = response.writableEnded;
      const taken = endWhenTaken(socket, response);
      if (isWritten) written.push(taken);
    }
    if (written.length === 0) return;
    await Promise.race([Promise.all(written), wait(takenMaxMs, undefined, { ref: false })]);
  });
  return ({ raw }, reply) => {
    // A client that is still sending its body would be reset before it reads the response.
    if (isClosing && raw.complete) void reply.header('connection', 'close');
  };
}

/** Resolves when the response is taken, or the connection has ended. */
function endWhenTaken(socket: Socket, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', () => resolve());
    response.once('finish', () => {
      // Node has detached it by now, and may have gone on with a pipelined request.
      if (responseOf(socket) === null) socket.destroySoon();
      resolve();
    });
  });
}

/** Node keeps the response that a connection is busy with in this property (`ServerResponse.assignSocket`). */
export function responseOf(socket: Socket): ServerResponse | null {
  return (Reflect.get(socket, '_httpMessage') as ServerResponse | null | undefined) ?? null;
}
