import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { framingProblem } from './before-routing.io.ts';
import { errorBytes, type Refusal } from './refusal.io.ts';

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
  socket.end(errorBytes(status, { error }, headers));
}
