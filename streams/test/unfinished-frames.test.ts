import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { StreamWorld } from './stream-world.ts';

let world: StreamWorld;
beforeEach(async () => {
  world = await new StreamWorld().start();
});
afterEach(() => world.close());

/** A connection that sends frames by the byte. */
async function connected(): Promise<Socket> {
  const socket = connect({
    port: Number(new URL(world.url).port),
    host: '127.0.0.1',
    noDelay: true,
  });
  const fields = [
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
  ];
  const key = `Sec-WebSocket-Key: ${Buffer.alloc(16, 1).toString('base64')}`;
  socket.write(['GET /v1/stream HTTP/1.1', ...fields, key, '', ''].join('\r\n'));
  await once(socket, 'data');
  socket.on('error', () => {});
  socket.resume();
  return socket;
}

/** The service knows that all connections are closed. */
async function left(): Promise<void> {
  while (world.hub.connections > 0) await new Promise((done) => setImmediate(done));
}

/** A masked fragment of one byte. */
const fragment = (firstByte: number): Buffer => Buffer.from([firstByte, 0x81, 0, 0, 0, 0, 0x20]);

test('a frame in more fragments than a client needs ends the connection', async () => {
  const socket = await connected();
  const closed = once(socket, 'close');
  socket.write(Buffer.concat([fragment(0x01), ...Array.from({ length: 4 }, () => fragment(0x00))]));
  await closed;
  await left();
});

test('a frame in more pieces than networks make of it ends the connection', async () => {
  const socket = await connected();
  let isClosed = false;
  socket.on('close', () => {
    isClosed = true;
  });
  socket.write(Buffer.from([0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0]));
  // Bytes that follow each other closely may come as one piece.
  for (let sent = 0; !isClosed && sent < 60_000; sent += 1) {
    socket.write(' ');
    await new Promise((done) => setImmediate(done));
  }
  expect(isClosed).toBe(true);
  await left();
});

test('a frame in a few fragments is read', async () => {
  const client = await world.open();
  client.socket.send('{"op":"ping",', { fin: false });
  client.socket.send('"id":7}', { fin: true });
  expect(await client.of('pong')).toMatchObject({ id: 7 });
});
