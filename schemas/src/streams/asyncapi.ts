import type { Type } from 'typebox';
import { Components } from '../openapi/components.ts';
import { apiVersion } from '../openapi/document.ts';
import { exampleOf } from '../openapi/example-of.ts';
import { streamChannels, streamPaths } from './channels.ts';
import { clientFrames } from './client-frames.ts';
import { streamCloses, streamErrors } from './codes.ts';
import { publicMessages } from './messages.ts';
import { ownMessages } from './own-messages.ts';
import { serverFrames } from './server-frames.ts';

/** An AsyncAPI 3.0 document. */
export interface AsyncApi {
  readonly asyncapi: '3.0.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly channels: Readonly<Record<string, object>>;
  readonly operations: Readonly<Record<string, object>>;
  readonly components: {
    readonly messages: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, unknown>>;
  };
  readonly [part: string]: unknown;
}

/** The one address of the protocol; its name within the document. */
const channelName = 'stream';

/** The streams of `/v1/stream`. The same for the same declarations. */
export function asyncApiDocument(): AsyncApi {
  const components = new Components();
  const fromClient = messagesOf(framesByName(clientFrames, 'Client'), components);
  const fromServer = {
    ...messagesOf(framesByName(serverFrames, 'Server'), components),
    ...messagesOf({ ...publicMessages, ...ownMessages }, components),
  };
  const messages = { ...fromClient, ...fromServer };
  return {
    asyncapi: '3.0.0',
    info: { title: 'Prediction exchange, streams', version: apiVersion, description },
    defaultContentType: 'application/json',
    channels: {
      [channelName]: {
        address: streamPaths.own,
        title: 'All channels over one connection',
        description: channelTable(),
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      receiveFrames: operationOf('receive', 'Frames of clients', Object.keys(fromClient)),
      sendMessages: operationOf('send', 'Frames and data of the server', Object.keys(fromServer)),
    },
    components: { messages, schemas: components.schemas() },
  };
}

const description = [
  'Frames are text, each one JSON object; decimals are text. A subscription begins with a snapshot and goes on with',
  'changes in one ordered flow. Every message has a `seq`, which counts the messages of its channel and key since the',
  'log began, and `prev`, the `seq` before: after a reconnect `from` gets everything that was missed.',
  'Errors:',
  Object.entries(streamErrors)
    .map(([code, { message }]) => `\`${code}\` (${message})`)
    .join(', '),
  '. Close codes:',
  [...new Map(Object.values(streamCloses).map((one) => [`${one.code} ${one.reason}`, one]))]
    .map(([text]) => text)
    .join(', '),
].join(' ');

function channelTable(): string {
  return Object.entries(streamChannels)
    .map(
      ([name, { key, message, snapshot }]) =>
        `\`${name}\` by ${key}: ${message} Begins with: ${snapshot}`,
    )
    .join('\n');
}

/** `subscribe` is `ClientSubscribe`. */
function framesByName(
  frames: Readonly<Record<string, Type.TSchema>>,
  sender: 'Client' | 'Server',
): Readonly<Record<string, Type.TSchema>> {
  return Object.fromEntries(
    Object.entries(frames).map(([name, schema]) => [
      `${sender}${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
      schema,
    ]),
  );
}

function messagesOf(
  schemas: Readonly<Record<string, Type.TSchema>>,
  components: Components,
): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      {
        name,
        summary: Reflect.get(schema, 'description'),
        payload: components.refer(schema),
        examples: [{ payload: exampleOf(schema) }],
      },
    ]),
  );
}

function operationOf(action: 'send' | 'receive', title: string, names: readonly string[]): object {
  return {
    action,
    title,
    channel: { $ref: `#/channels/${channelName}` },
    messages: names.map((name) => ({ $ref: `#/channels/${channelName}/messages/${name}` })),
  };
}
