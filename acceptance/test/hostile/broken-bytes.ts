import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Dice } from '../../../kit/test/hostile/dice.ts';

/** Responses on a connection whose bytes were no valid request. */
export interface BrokenResponse {
  readonly sent: string;
  /** Statuses in the order of their responses; none when the connection was closed without one. */
  readonly statuses: readonly number[];
}

/** A connection that says nothing more is given up after so long, milliseconds. */
const silenceMs = 1_500;
/** Between the parts of a slow body, milliseconds. */
const slowPauseMs = 30;

const good = 'GET /ok HTTP/1.1\r\nHost: x\r\n\r\n';
const post = (headers: string, body: string) =>
  `POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;

/** Bytes on a connection, part after part: pipelined, truncated, slow, with headers that no client sends. */
const broken: readonly ((dice: Dice) => readonly string[])[] = [
  (dice) => [good.repeat(2 + dice.below(30))],
  () => [good + post('Content-Length: 2', '{}') + good],
  (dice) => [good.slice(0, 1 + dice.below(good.length - 1))],
  (dice) => [post(`Content-Length: ${dice.pick([10, 1_000, 60_000])}`, '{"order":')],
  () => [post('Content-Length: 60', ''), ...'{"order":{"salt":"1"},'.split(/(?<=,)/), '{'],
  () => [post('Transfer-Encoding: chunked', '5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n')],
  () => [post('Transfer-Encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n')],
  () => [post('Transfer-Encoding: chunked\r\nContent-Length: 2', '0\r\n\r\n')],
  () => [post('Content-Length: 2\r\nContent-Length: 3', '{}x')],
  (dice) => [post(`Content-Length: ${dice.pick(['-1', '1e3', '9'.repeat(30), '0x2', ''])}`, '{}')],
  (dice) => [`GET /ok HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(dice.pick([9_000, 20_000]))}\r\n\r\n`],
  () => [`GET /ok HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(3_000)}\r\n`],
  () => [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  () => ['GET /ok HTTP/1.1\r\n\r\n', 'GET /ok HTTP/1.0\r\n\r\n'],
  () => ['GET /ok HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n'],
  () => ['GET /ok HTTP/1.1\r\nHost: x\r\nX: \u0000\u0001\r\n\r\n'],
  () => ['\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
  () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  () => ['GET http://other.example/ok HTTP/1.1\r\nHost: x\r\n\r\n'],
  () => ['CONNECT other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  () => ['GET /v1/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  () => ['GET /order HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
  () => [post('Expect: 100-continue\r\nContent-Length: 2', ''), '{}'],
  () => [post('Expect: something\r\nContent-Length: 2', '{}')],
];

/** Sends broken bytes on a connection of its own; rejects only when the port does not accept connections. */
export async function sendBroken(port: number, dice: Dice): Promise<BrokenResponse> {
  const parts = dice.pick(broken)(dice);
  const isSlow = dice.isOneIn(3);
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const received = collect(socket);
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(Buffer.from(part, 'latin1'));
    if (isSlow) await wait(slowPauseMs);
  }
  if (dice.isOneIn(2)) socket.end();
  if (dice.isOneIn(8)) socket.destroy();
  const text = await received;
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return { sent: parts.join('').slice(0, 300), statuses };
}

/** Everything until the connection ends or is silent. */
function collect(socket: Socket): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    const finish = () => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(silenceMs, finish);
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    socket.on('error', finish);
    socket.on('close', finish);
  });
}
