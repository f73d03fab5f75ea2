import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dereference } from '@apidevtools/json-schema-ref-parser';
import { exampleOf } from '@pm/schemas/http/example-of';
import { isStreamPath, streamChannels } from '@pm/schemas/streams/channels';
import { clientFrames } from '@pm/schemas/streams/client-frames';
import { familyFrames } from '@pm/schemas/streams/family-frames';
import { familyMessages } from '@pm/schemas/streams/family-messages';
import { publicMessages } from '@pm/schemas/streams/messages';
import { ownMessages } from '@pm/schemas/streams/own-messages';
import { serverFrames } from '@pm/schemas/streams/server-frames';
import { Ajv, type AnySchema } from 'ajv';
import { Value } from 'typebox/value';
import { asyncApiDocument } from '../../src/openapi/index.ts';

const file = join(__dirname, '../../../docs/asyncapi.json');

const text = JSON.stringify(asyncApiDocument());

test('the document is valid AsyncAPI 3.0', () => {
  const form: AnySchema = require('@asyncapi/specs/schemas/3.0.0.json');
  // The form has the schema of schemas in it.
  const reader = new Ajv({ meta: false, validateSchema: false, strict: false, logger: false });
  const isValid = reader.compile(form);
  isValid(JSON.parse(text));
  expect(isValid.errors).toBeNull();
  for (const wrong of [text.replace('"address"', '"adress"'), text.replace('"string"', '"strng"')])
    expect(isValid(JSON.parse(wrong))).toBe(false);
});

test('every reference in the document leads to something', async () => {
  await expect(dereference(JSON.parse(text))).resolves.toHaveProperty('channels');
});

test('the document in the repository says what the declarations say', () => {
  const written: unknown = JSON.parse(readFileSync(file, 'utf8'));
  expect(written).toEqual(JSON.parse(JSON.stringify(asyncApiDocument())));
});

const ofFamily = [...Object.values(familyFrames), ...Object.values(familyMessages)];
const declared = {
  ...clientFrames,
  ...serverFrames,
  ...publicMessages,
  ...ownMessages,
  ...Object.fromEntries(ofFamily.flatMap((frames) => Object.entries(frames))),
};

test.each(Object.entries(declared))('the example of %s has its form', (_name, schema) => {
  const example = exampleOf(schema);
  expect(Value.Errors(schema, example)).toEqual([]);
});

test('every channel has a snapshot and a change', () => {
  const messages = Object.values({ ...publicMessages, ...ownMessages });
  const found = messages.map(
    ({ properties: { type, channel } }) => `${type.const} ${channel.const}`,
  );
  for (const name of Object.keys(streamChannels)) {
    expect(found).toContain(`snapshot ${name}`);
    expect(found.some((one) => one === `delta ${name}` || one === `event ${name}`)).toBe(true);
  }
});

test('every address of a stream is a channel, and every channel is one', () => {
  const { channels } = asyncApiDocument() as unknown as {
    readonly channels: Record<string, { readonly address: string }>;
  };
  const addresses = Object.values(channels).map(({ address }) => address);
  expect(addresses.filter(isStreamPath)).toEqual(addresses);
  const family = ['market', 'user', 'live-data'].flatMap((one) => [
    `/ws/${one}`,
    `/clob/ws/${one}`,
  ]);
  expect(addresses.sort()).toEqual(['/v1/stream', ...family].sort());
});

test('paths of streams are recognised whole, with or without a slash at their end', () => {
  const paths = ['/v1/stream', '/ws/market', '/clob/ws/user'];
  const all = [...paths, ...paths.map((path) => `${path}/`)];
  expect(all.filter(isStreamPath)).toEqual(all);
  const others = [
    '/v1/streams',
    '/ws',
    '/ws/',
    '/wss/market',
    '/v1/stream//',
    '/ws/market/x',
    '/',
    '',
  ];
  expect(others.filter(isStreamPath)).toEqual([]);
});
