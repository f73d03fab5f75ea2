import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { framingProblem } from './before-routing.io.ts';
import { errorBytes, type Refusal } from './refusal.io.ts';

/** An ended socket is destroyed after this, milliseconds, whatever its client has taken until then. */
export const endedForMs = 5_000;

/** Takes requests to upgrade, but for those with a head that no listener takes. */
export function takeUpgrades(
  server: Server,
  take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const refusal = framingProblem(request);
    if (refusal === null) take(request, socket, head);
    else refuseUpgrade(socket, refusal);
  });
}

/**
 * Answers a request to upgrade, whose bare socket no response object serves, with an error of the documented shape, and
 * ends the connection. A socket that has gone is left alone.
 */
export function refuseUpgrade(socket: Duplex, { status, error, headers }: Refusal): void {
  if (socket.destroyed || socket.writableEnded) return;
  endSocket(socket, errorBytes(status, { error }, headers));
}

/**
 * Ends a socket that the server has given away, with its timeouts, after these bytes. It is destroyed once all is
 * written, and after `endedForMs` at the latest: it is held neither by a client that does not close its side nor by one
 * that takes nothing.
 */
export function endSocket(socket: Duplex, bytes = ''): void {
  if (socket.destroyed) return;
  const destroy = () => void socket.destroy();
  const timer = setTimeout(destroy, endedForMs).unref();
  socket.once('close', () => clearTimeout(timer));
  if (socket.writableFinished) destroy();
  else socket.once('finish', destroy);
  if (!socket.writableEnded) socket.end(bytes);
}
