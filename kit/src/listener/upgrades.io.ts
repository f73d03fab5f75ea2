import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { framingProblem } from './before-routing.io.ts';
import { errorBytes, type Refusal } from './refusal.io.ts';

/** An ended socket is destroyed after this, milliseconds, whatever its client has taken until then. */
export const endedForMs = 2_000;

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
  destroyWithin(socket);
  socket.end(errorBytes(status, { error }, headers), () => socket.destroy());
}

/**
 * Ends an upgraded socket once all is written, and destroys it when its client has ended too. What the client still
 * sends is thrown away: a reset would take the last bytes from it.
 */
export function endSocket(socket: Duplex): void {
  if (socket.destroyed) return;
  destroyWithin(socket);
  socket.resume();
  if (!socket.writableEnded) socket.end();
}

/** Holds an ended socket for `endedForMs` at most: an upgraded one has no timeouts of the server. */
function destroyWithin(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), endedForMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
