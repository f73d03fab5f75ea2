import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectTo, type RawTalk } from '../../kit/test/http/raw-talk.ts';
import { until } from '../../kit/test/kafka/deferred.ts';
import { FrameEnds } from '../src/frame-ends.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../src/gateway.ts';

const closedPort = 'http://127.0.0.1:1';
const head =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
/** A close frame with 1012 and a reason of 20 characters, as latin1. */
const closed = '\x88\x16\x03\xf4the service restarts';

/** An unmasked text frame, or its parts. */
function frameOf(text: string): string {
  return `\x81${String.fromCharCode(text.length)}${text}`;
}

let service: Server;
let sockets: Duplex[];
const talks: RawTalk[] = [];
/** By path: what the service sends at once. */
const sent = new Map([
  ['/v1/stream', `${head}${frameOf('hello')}`],
  ['/ws/market', `${head}${frameOf('hello')}${frameOf('wait').slice(0, 3)}`],
]);

beforeEach(async () => {
  sockets = [];
  service = createServer();
  service.on('upgrade', ({ url = '' }: IncomingMessage, socket: Duplex) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.resume();
    const bytes = sent.get(url);
    if (bytes !== undefined) socket.write(bytes, 'latin1');
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
});

afterEach(() => {
  for (const talk of talks.splice(0)) talk.close();
  for (const socket of sockets) socket.destroy();
  service.close();
});

async function openWith(options: GatewayOptions = {}): Promise<Gateway> {
  const streams = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const gateway = openGateway({ ingress: closedPort, 'query-api': closedPort, streams }, options);
  await gateway.listen({ host: '127.0.0.1', port: 0 });
  return gateway;
}

async function upgrade(gateway: Gateway, path: string): Promise<RawTalk> {
  const talk = await connectTo(gateway);
  talks.push(talk);
  talk.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  return talk;
}

test('a gateway that closes says 1012 to its streams before it ends them', async () => {
  const gateway = await openWith();
  const talk = await upgrade(gateway, '/v1/stream');
  await talk.hears('hello');
  const closing = gateway.close();
  expect(await talk.end()).toBe(`${head}${frameOf('hello')}${closed}`);
  await closing;
});

test('a frame that has begun is sent to its end before the stream closes', async () => {
  const gateway = await openWith();
  const talk = await upgrade(gateway, '/ws/market');
  await talk.hears('w');
  const closing = gateway.close();
  await until(() => !gateway.server.listening, 'it accepts no more');
  sockets[0]?.write(`ait${frameOf('lost')}`, 'latin1');
  expect(await talk.end()).toBe(`${head}${frameOf('hello')}${frameOf('wait')}${closed}`);
  await closing;
});

test('an upgrade without a response of the service is refused', async () => {
  const gateway = await openWith();
  const talk = await upgrade(gateway, '/ws/user');
  await until(() => sockets.length === 1, 'the service has it');
  const closing = gateway.close();
  expect(await talk.end()).toContain('503 Service Unavailable');
  await closing;
});

test('streams go on while they may leave, and no connection is accepted meanwhile', async () => {
  let leaving: readonly (() => void)[] = [];
  const letLeave = async (ends: readonly (() => void)[]) => {
    leaving = ends;
  };
  const gateway = await openWith({ letLeave });
  const { port } = gateway.server.address() as AddressInfo;
  const first = await upgrade(gateway, '/v1/stream');
  const second = await upgrade(gateway, '/v1/stream');
  await Promise.all([first.hears('hello'), second.hears('hello')]);
  const closing = gateway.close();
  await until(() => !gateway.server.listening, 'it accepts no more');
  const [error] = await once(connect(port, '127.0.0.1'), 'error');
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  for (const socket of sockets) socket.write(frameOf('later'), 'latin1');
  await Promise.all([first.hears('later'), second.hears('later')]);
  expect(leaving).toHaveLength(2);
  for (const leave of leaving) leave();
  expect(await first.end()).toContain(closed);
  expect(await second.end()).toContain(closed);
  await closing;
});

test('a service that could not be reached is named as away', async () => {
  const gateway = await openWith();
  expect(gateway.away()).toEqual([]);
  const talk = await connectTo(gateway);
  talks.push(talk);
  talk.send('GET /time HTTP/1.1\r\nHost: a\r\n\r\n');
  await talk.hears('503');
  expect(gateway.away()).toHaveLength(1);
  await gateway.close();
});

describe('the ends of frames', () => {
  const masked = Buffer.concat([Buffer.from([0x82, 0x83, 1, 2, 3, 4]), Buffer.from('abc')]);
  const short = (length: number) =>
    Buffer.concat([Buffer.from([0x81, length]), Buffer.alloc(length)]);
  const medium = Buffer.concat([Buffer.from([0x82, 126, 1, 0]), Buffer.alloc(256)]);
  const long = Buffer.concat([
    Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
    Buffer.alloc(65_536),
  ]);
  const frames = [short(0), short(125), medium, masked, long, short(3)];
  const bytes = Buffer.concat([Buffer.from(`HTTP/1.1 101 \r\nA: \r\r\n\r\n`), ...frames]);
  const ends = new Set<number>();
  let at = bytes.length - frames.reduce((sum, { length }) => sum + length, 0);
  for (const { length } of [{ length: 0 }, ...frames]) {
    at += length;
    ends.add(at);
  }

  test.each([1, 2, 3, 7, 130, 1_000, 100_000])('are found in pieces of %d bytes', (size) => {
    const follower = new FrameEnds();
    const wrong: number[] = [];
    for (let from = 0; from < bytes.length; from += size) {
      const piece = bytes.subarray(from, from + size);
      const wanted = [...ends].find((end) => end >= from && end <= from + piece.length);
      const isRight = follower.take(piece) === (wanted === undefined ? -1 : wanted - from);
      if (!isRight || follower.isBetween !== ends.has(from + piece.length)) wrong.push(from);
    }
    expect(wrong).toEqual([]);
  });
});
