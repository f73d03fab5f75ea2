import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { TextFrames, textFrame } from '../src/protocol/text-frame.ts';

/** The messages that a client of the library reads out of bytes that a server writes. */
async function readByLibrary(bytes: Buffer, count: number): Promise<string[]> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  server.on('connection', (_socket, request) => request.socket.write(bytes));
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const texts: string[] = [];
  await new Promise<void>((resolve, reject) => {
    client.on('error', reject);
    client.on('message', (data, isBinary) => {
      texts.push(isBinary ? 'binary' : String(data));
      if (texts.length === count) resolve();
    });
  });
  client.terminate();
  server.close();
  return texts;
}

test.each([0, 1, 125, 126, 127, 65_535, 65_536, 300_000])(
  'a payload of %d bytes is read by a client of the library',
  async (length) => {
    const texts = ['x'.repeat(length), 'the next'];
    const frames = texts.map((text) => textFrame(Buffer.from(text)));
    expect(await readByLibrary(Buffer.concat(frames), 2)).toEqual(texts);
  },
);

test('a payload that is sent to one reader after the other is framed once', () => {
  const frames = new TextFrames();
  const [one, other] = [Buffer.from('{"a":1}'), Buffer.from('{"a":2}')];
  const first = frames.of(one);
  expect(frames.of(one)).toBe(first);
  expect(frames.of(other)).toEqual(textFrame(other));
  expect(frames.of(one)).toEqual(first);
});
