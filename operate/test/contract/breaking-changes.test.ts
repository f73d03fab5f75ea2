import { openApiDocument } from '@pm/kit/openapi';
import { unannounced } from '../../src/contract/announced.ts';
import { breakingChanges } from '../../src/contract/breaking-changes.ts';

const text = { type: 'string' };
const whole = { type: 'integer' };
const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});

interface Parts {
  readonly parameters?: readonly object[];
  readonly body?: object | null;
  readonly isRequired?: boolean;
  readonly answer?: object;
  readonly statuses?: readonly string[];
}

/** A description of one route. */
function described({
  parameters = [],
  body = null,
  isRequired = true,
  answer = object({ price: text }),
  statuses = ['200', '404'],
}: Parts): object {
  const content = (schema: object) => ({ content: { 'application/json': { schema } } });
  const responses = statuses.map((status) => [status, content(answer)]);
  const requestBody =
    body === null ? {} : { requestBody: { required: isRequired, ...content(body) } };
  const post = { parameters, ...requestBody, responses: Object.fromEntries(responses) };
  return {
    paths: { '/price': { post } },
    components: { schemas: { Price: object({ price: text }) } },
  };
}

const parameter = (name: string, schema: object, required = false) => ({
  name,
  in: 'query',
  required,
  schema,
});
const enumOf = (...values: string[]) => ({ type: 'string', enum: values });
const toPrice = { $ref: '#/components/schemas/Price' };

const cases: readonly (readonly [string, Parts, Parts, readonly string[]])[] = [
  ['nothing', {}, {}, []],
  ['a reference for what it refers to', {}, { answer: toPrice }, []],
  ['a new field of a response', {}, { answer: object({ price: text, size: text }) }, []],
  [
    'a removed field of a response',
    { statuses: ['200'] },
    { statuses: ['200'], answer: object({}) },
    ['status 200.price is removed'],
  ],
  [
    'a field of a response that may be absent',
    { statuses: ['200'] },
    { statuses: ['200'], answer: object({ price: text }, []) },
    ['status 200.price may be absent'],
  ],
  [
    'another type in a list in a response',
    { statuses: ['200'], answer: { type: 'array', items: toPrice } },
    { statuses: ['200'], answer: { type: 'array', items: object({ price: whole }) } },
    ['status 200[].price: is not always string'],
  ],
  ['a removed status', {}, { statuses: ['200'] }, ['status 404 is removed']],
  ['a new status', {}, { statuses: ['200', '404', '409'] }, []],
  [
    'a value that a response did not have',
    { statuses: ['200'], answer: enumOf('BUY') },
    { statuses: ['200'], answer: enumOf('BUY', 'SELL') },
    ['status 200: may be "SELL"'],
  ],
  [
    'null where there was none in a response',
    { statuses: ['200'], answer: text },
    { statuses: ['200'], answer: { anyOf: [text, { type: 'null' }] } },
    ['status 200: is not always string'],
  ],
  [
    'one form less of a response',
    { statuses: ['200'], answer: { anyOf: [text, { type: 'null' }] } },
    { statuses: ['200'], answer: text },
    [],
  ],
  ['a new optional parameter', {}, { parameters: [parameter('side', text)] }, []],
  [
    'a new required parameter',
    {},
    { parameters: [parameter('side', text, true)] },
    ['parameter query side is new and required'],
  ],
  [
    'a parameter that becomes required',
    { parameters: [parameter('side', text)] },
    { parameters: [parameter('side', text, true)] },
    ['parameter query side is required'],
  ],
  [
    'a removed parameter',
    { parameters: [parameter('side', text)] },
    {},
    ['parameter query side is removed'],
  ],
  [
    'fewer values of a parameter',
    { parameters: [parameter('side', enumOf('BUY', 'SELL'))] },
    { parameters: [parameter('side', enumOf('BUY'))] },
    ['parameter query side: does not take "SELL"'],
  ],
  [
    'more values of a parameter',
    { parameters: [parameter('side', enumOf('BUY'))] },
    { parameters: [parameter('side', enumOf('BUY', 'SELL'))] },
    [],
  ],
  [
    'a narrower bound of a body',
    { body: { type: 'array', items: text, maxItems: 20 } },
    { body: { type: 'array', items: text, maxItems: 10 } },
    ['body: takes maxItems 10'],
  ],
  [
    'a new required field of a body',
    { body: object({ price: text }) },
    { body: object({ price: text, size: text }) },
    ['body.size is required'],
  ],
  [
    'a new optional field of a body',
    { body: object({ price: text }) },
    { body: object({ price: text, size: text }, ['price']) },
    [],
  ],
  [
    'a form that a body no longer has',
    { body: object({ price: { anyOf: [text, whole] } }) },
    { body: object({ price: text }) },
    ['body.price: takes string only'],
  ],
  [
    'one form more of a body',
    { body: object({ price: text }) },
    { body: object({ price: { anyOf: [text, whole] } }) },
    [],
  ],
  ['a new body that may be absent', {}, { body: text, isRequired: false }, []],
  ['a new required body', {}, { body: text }, ['a body is required']],
  [
    'another pattern of a body',
    { body: text },
    { body: { ...text, pattern: '^0x' } },
    ['body: takes ^0x only'],
  ],
];

test.each(cases)('%s', (_name, before, after, expected) => {
  const found = breakingChanges(described(before), described(after));
  expect(found).toEqual(expected.map((one) => ({ route: 'POST /price', text: one })));
});

test('a removed route breaks its clients', () => {
  expect(breakingChanges(described({}), { paths: {} })).toEqual([
    { route: 'POST /price', text: 'the route is removed' },
  ]);
});

test('the API breaks nothing that it says itself, and a field taken from a shared schema is found where it is used', () => {
  const whole = JSON.parse(JSON.stringify(openApiDocument())) as {
    components: {
      schemas: Record<string, { properties: Record<string, object>; required: string[] }>;
    };
  };
  expect(breakingChanges(whole, whole)).toEqual([]);
  const less = structuredClone(whole);
  const { PriceResponse: answer } = less.components.schemas;
  if (answer === undefined) throw new Error('the description has no PriceResponse');
  answer.properties = {};
  answer.required = [];
  expect(breakingChanges(whole, less)).toEqual([
    { route: 'GET /price', text: 'status 200.price is removed' },
  ]);
});

const changelog = (line: string) =>
  `# Changes\n\n## Unreleased\n\n${line}\n\n## 0.1.0\n\n- **Breaking:** GET /old\n`;

test.each([
  ['- **Breaking:** `POST /price` has no `mid`.', 0],
  ['- **Breaking:** `POST /prices` has no `mid`.', 1],
  ['- POST /price has no `mid`.', 1],
  ['', 1],
])('the line %j leaves %i changes unannounced', (line, open) => {
  const changes = [{ route: 'POST /price', text: 'status 200.mid is removed' }];
  expect(unannounced(changes, changelog(line))).toHaveLength(open);
});

test('what an earlier release announced is not announced for this one', () => {
  const changes = [{ route: 'GET /old', text: 'the route is removed' }];
  expect(unannounced(changes, changelog(''))).toEqual(changes);
});
