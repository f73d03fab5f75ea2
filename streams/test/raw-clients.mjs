// Clients in a thread of their own, so that only the server is in the heap of the test: each sends a frame and then an
// unfinished one, byte for byte. Reports once all of it is with the server.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { port, path, count, frame } = workerData;
/** Bytes of the unfinished frame that are sent: fewer pieces than end a connection. */
const pieces = 60;

/** A masked frame; the mask changes nothing. */
function head(firstByte, length) {
  const size = length < 126 ? [0x80 | length] : [0xfe, length >> 8, length & 0xff];
  return Buffer.from([firstByte, ...size, 0, 0, 0, 0]);
}

function upgrade(address) {
  const fields = [
    `GET ${path}?${'q'.repeat(7_000)} HTTP/1.1`,
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${Buffer.alloc(16, 1).toString('base64')}`,
    `X-Forwarded-For: ${'x'.repeat(7_000)}, ${address}`,
  ];
  return `${fields.join('\r\n')}\r\n\r\n`;
}

async function open(at) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  socket.write(upgrade(`250.250.${100 + (at >> 7)}.${100 + (at & 127)}`));
  await once(socket, 'data');
  socket.write(Buffer.concat([head(0x81, frame.length), Buffer.from(frame)]));
  for (const firstByte of [0x01, 0x00, 0x00]) {
    socket.write(Buffer.concat([head(firstByte, 1), Buffer.from(' ')]));
    await turn();
  }
  socket.write(head(0x00, 60_000));
  return socket;
}

const sockets = await Promise.all(Array.from({ length: count }, (_, at) => open(at)));
for (let piece = 0; piece < pieces; piece += 1) {
  for (const socket of sockets) socket.write(' ');
  await wait(1);
}
while (sockets.some(({ writableLength }) => writableLength > 0)) await wait(1);
await wait(200);
parentPort.postMessage('sent');
