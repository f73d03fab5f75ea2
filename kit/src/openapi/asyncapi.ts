import { exampleOf } from '@pm/schemas/http/example-of';
import {
  familyStreamNames,
  familyStreams,
  streamChannels,
  streamPaths,
} from '@pm/schemas/streams/channels';
import { clientFrames } from '@pm/schemas/streams/client-frames';
import { streamCloses, streamErrors } from '@pm/schemas/streams/codes';
import { familyFrames } from '@pm/schemas/streams/family-frames';
import { familyMessages } from '@pm/schemas/streams/family-messages';
import { publicMessages } from '@pm/schemas/streams/messages';
import { ownMessages } from '@pm/schemas/streams/own-messages';
import { serverFrames } from '@pm/schemas/streams/server-frames';
import type { Type } from 'typebox';
import { Components } from './components.ts';
import { apiVersion } from './document.ts';

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

/** Frames of the two sides of a channel, by the names of their messages. */
interface Sides {
  readonly client: readonly string[];
  readonly server: readonly string[];
}

interface Channel extends Sides {
  readonly address: string;
  readonly title: string;
  readonly description: string;
}

/** All streams. The same for the same declarations. */
export function asyncApiDocument(): AsyncApi {
  const components = new Components();
  const messages: Record<string, object> = {};
  const declare = (schemas: Readonly<Record<string, Type.TSchema>>): readonly string[] => {
    Object.assign(messages, messagesOf(schemas, components));
    return Object.keys(schemas);
  };
  const channels = { stream: ownChannel(declare), ...familyChannels(declare) };
  return {
    asyncapi: '3.0.0',
    info: { title: 'Prediction exchange, streams', version: apiVersion, description },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      Object.entries(channels).map(([name, channel]) => [name, channelOf(channel)]),
    ),
    operations: Object.fromEntries(
      Object.entries(channels).flatMap(([name, sides]) => operationsOf(name, sides)),
    ),
    components: { messages, schemas: components.schemas() },
  };
}

type Declare = (schemas: Readonly<Record<string, Type.TSchema>>) => readonly string[];

/** `/v1/stream`. */
function ownChannel(declare: Declare): Channel {
  return {
    address: streamPaths.own,
    title: 'All channels over one connection',
    description: channelTable(),
    client: declare(framesByName(clientFrames, 'Client')),
    server: declare({
      ...framesByName(serverFrames, 'Server'),
      ...publicMessages,
      ...ownMessages,
    }),
  };
}

/** The streams of the family at each of their addresses: `wsMarket`, `clobWsMarket` ... */
function familyChannels(declare: Declare): Readonly<Record<string, Channel>> {
  const channels: Record<string, Channel> = {};
  for (const stream of familyStreamNames) {
    const sides = {
      client: declare(familyFrames[stream]),
      server: declare(familyMessages[stream]),
    };
    const texts = { title: familyStreams[stream], description: familyDescription };
    for (const prefix of streamPaths.family) {
      const address = `${prefix}/${stream}`;
      channels[channelName(address)] = { address, ...texts, ...sides };
    }
  }
  return channels;
}

/** `/clob/ws/live-data` is `clobWsLiveData`. */
function channelName(address: string): string {
  return address.slice(1).replace(/[/-](.)/g, (_, first: string) => first.toUpperCase());
}

const familyDescription = [
  'In the dialect of the API family. Fields of clients that are not declared are ignored. After a gap of `sequence`,',
  'or with a new `stream_id`, read by REST again. Limits and close codes are those of /v1/stream.',
].join(' ');

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
        ...('properties' in schema || 'anyOf' in schema ? {} : { contentType: 'text/plain' }),
        payload: components.refer(schema),
        examples: [{ payload: exampleOf(schema) }],
      },
    ]),
  );
}

function channelOf({ address, title, description, client, server }: Channel): object {
  const names = [...client, ...server];
  return {
    address,
    title,
    description,
    messages: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
  };
}

/** Operations of the server of a channel. */
function operationsOf(channel: string, { client, server }: Sides): [string, object][] {
  const suffix = channel.slice(0, 1).toUpperCase() + channel.slice(1);
  const operation = (action: 'send' | 'receive', title: string, names: readonly string[]) => ({
    action,
    title,
    channel: { $ref: `#/channels/${channel}` },
    messages: names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  });
  return [
    [`receive${suffix}`, operation('receive', 'Frames of clients', client)],
    [`send${suffix}`, operation('send', 'Frames and data of the server', server)],
  ];
}
