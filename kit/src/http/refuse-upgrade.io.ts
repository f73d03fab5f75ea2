import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Answers a request to upgrade, whose bare socket no response object serves, with an error of the documented shape, and
 * ends the connection. A socket that has gone is left alone.
 */
export function refuseUpgrade(socket: Duplex, status: 404 | 503, error: string): void {
  if (socket.destroyed || socket.writableEnded) return;
  const body = JSON.stringify({ error });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
