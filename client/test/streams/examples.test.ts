import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exampleOf } from '@pm/schemas/http/example-of';
import { publicMessages } from '@pm/schemas/streams/messages';
import { ownMessages } from '@pm/schemas/streams/own-messages';
import { type WebSocket, WebSocketServer } from 'ws';
import { testDomain } from '../../../kit/test/signing-domain.ts';

type Declaration = Parameters<typeof exampleOf>[0];

/** A snapshot and a change of each channel, by the declarations. */
const messagesOf: Readonly<Record<string, readonly [Declaration, Declaration]>> = {
  book: [publicMessages.BookSnapshotMessage, publicMessages.BookDeltaMessage],
  best: [publicMessages.BestSnapshotMessage, publicMessages.BestDeltaMessage],
  orders: [publicMessages.OrdersSnapshotMessage, publicMessages.OrdersDeltaMessage],
  trades: [publicMessages.TradesSnapshotMessage, publicMessages.TradeMessage],
  markets: [publicMessages.MarketsSnapshotMessage, publicMessages.MarketsEventMessage],
  activity: [publicMessages.ActivitySnapshotMessage, publicMessages.ActivityMessage],
  comments: [publicMessages.CommentsSnapshotMessage, publicMessages.CommentMessage],
  own: [ownMessages.OwnSnapshotMessage, ownMessages.OwnOrderMessage],
};

interface Frame {
  readonly op: string;
  readonly id: number;
  readonly channel: string;
  readonly tokens?: readonly string[];
  readonly markets?: readonly string[];
  readonly events?: readonly string[];
}

let server: Server;
let sockets: WebSocketServer;
let baseUrl = '';

beforeAll(async () => {
  const key = { apiKey: 'key', secret: `${'A'.repeat(43)}=`, passphrase: 'p' };
  const answers = JSON.stringify({ ...key, ...testDomain, familyDomains: [] });
  server = createServer((_request, response) => response.end(answers));
  sockets = new WebSocketServer({ server, path: '/v1/stream' });
  sockets.on('connection', (socket) => {
    send(socket, { type: 'welcome', stream_id: 's-1', partitions: [] });
    socket.on('message', (data) => answer(socket, JSON.parse(String(data)) as Frame));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  for (const socket of sockets.clients) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

/** Fields of a snapshot in one part that follows without a gap. */
const whole = { gap: undefined, part: undefined, more: undefined };

function send(socket: WebSocket, frame: object): void {
  socket.send(JSON.stringify(frame));
}

function answer(socket: WebSocket, frame: Frame): void {
  const { op, id, channel } = frame;
  if (op === 'auth') send(socket, { type: 'authenticated', id, wallet: '0x00' });
  const declared = messagesOf[channel];
  if (op !== 'subscribe' || declared === undefined) return;
  send(socket, { type: 'subscribed', id, channel, keys: [] });
  const [snapshot, change] = declared.map((one) => exampleOf(one) as object);
  const [token] = frame.tokens ?? [];
  const [market] = frame.markets ?? [];
  const [event] = frame.events ?? [];
  const named = { ...(token && { token }), ...(market && { market }), ...(event && { event }) };
  send(socket, { ...snapshot, ...named, seq: 0, ...whole });
  for (const seq of [1, 2]) {
    send(socket, { ...change, ...named, seq, prev: seq - 1, merged: undefined });
  }
}

const keys: Readonly<Record<string, readonly string[]>> = {
  book: ['1000'],
  best: ['1000'],
  orders: [`0x${'1'.repeat(64)}`],
  trades: [`0x${'1'.repeat(64)}`],
  activity: [`0x${'1'.repeat(64)}`],
  comments: ['1'],
};

test.each(Object.keys(messagesOf))(
  'the example of the channel %s prints its messages',
  async (name) => {
    const file = join(__dirname, '../../examples/streams', `${name}.mjs`);
    const args = [file, ...(keys[name] ?? []), baseUrl, '2'];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      timeout: 30_000,
    });
    expect(stderr).toBe('');
    // A book that is read slowly has one event for several changes, and waits for the second.
    expect(stdout.trim().split('\n').length).toBe(2);
    expect(stdout).not.toContain('undefined');
  },
);
