import { exampleOf } from '@pm/schemas/http/example-of';
import type { DeclaredResponse } from '@pm/schemas/routes/responses';
import type { Declaration } from '@pm/schemas/routes/route';
import type { Type } from 'typebox';
import type { Components } from './components.ts';
import { type requestHeaders, schemesOf } from './headers.ts';

/** Parts that an operation of a document is made of. */
export interface OperationParts {
  readonly name: string;
  readonly subject: string;
  readonly route: Declaration;
  readonly responses: readonly DeclaredResponse[];
  /** Prefixes that it is served under besides the root. */
  readonly mounts: readonly string[];
  /** Names of the scopes of limits that count it; null where nothing is limited. */
  readonly limits: readonly string[] | null;
  /** Roles that the caller needs besides its proof. */
  readonly roles: readonly string[];
}

/** An operation of an OpenAPI 3.1 document. */
export function operationOf(parts: OperationParts, components: Components): object {
  const { name, subject, route, mounts, limits } = parts;
  const { summary, description, auth } = route;
  const isMounted = mounts.length > 0;
  return {
    operationId: name,
    tags: [subject],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(isMounted ? { servers: ['/', ...mounts].map((url) => ({ url })) } : {}),
    security: auth.map((one) =>
      Object.fromEntries(schemesOf[one].map((scheme) => [scheme, parts.roles] as const)),
    ),
    ...(limits === null ? {} : { 'x-rate-limits': limits }),
    parameters: parametersOf(route, components),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route, route.body, components) }),
    responses: Object.fromEntries(
      parts.responses.map((one) => {
        const response = responseOf(one, parts, components);
        const { status, shared } = one;
        return [
          status,
          shared === undefined ? response : components.referResponse(shared, response),
        ] as const;
      }),
    ),
  };
}

function parametersOf(route: Declaration, components: Components): readonly object[] {
  const { params, query, takesIdempotencyKey, takesTimeToBook, examples } = route;
  const [example] = examples;
  return [
    ...fieldsOf(params).map((field) =>
      parameterOf({ ...field, place: 'path' }, example.params?.[field.name], components),
    ),
    ...fieldsOf(query).map((field) =>
      parameterOf({ ...field, place: 'query' }, example.query?.[field.name], components),
    ),
    ...(takesIdempotencyKey === true ? [refTo('IdempotencyKey')] : []),
    ...(takesTimeToBook === true ? bookTimes.map(refTo) : []),
  ];
}

const bookTimes = ['TimeToBook', 'ValidUntil', 'FirstSent'] as const;

const refTo = (name: keyof typeof requestHeaders) => ({ $ref: `#/components/parameters/${name}` });

interface Field {
  readonly name: string;
  readonly schema: Type.TSchema;
  readonly required: boolean;
}

function fieldsOf(object: Type.TObject | undefined): readonly Field[] {
  if (object === undefined) return [];
  const required: readonly string[] = object.required ?? [];
  return Object.entries(object.properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));
}

function parameterOf(
  { name, schema, required, place }: Field & { readonly place: 'path' | 'query' },
  example: unknown,
  components: Components,
): object {
  const { description, ...form } = schema as { description?: string };
  const isList = 'type' in schema && schema.type === 'array';
  return {
    name,
    in: place,
    required,
    ...(description === undefined ? {} : { description }),
    ...(isList ? { style: 'form', explode: true } : {}),
    schema: components.refer(form),
    ...(example === undefined ? {} : { example: isList ? [example].flat() : example }),
  };
}

function bodyOf(route: Declaration, body: Type.TSchema, components: Components): object {
  const [example] = route.examples;
  const shown = example.body === undefined ? {} : { example: example.body };
  return {
    required: route.bodyIsOptional !== true,
    content: { 'application/json': { schema: components.refer(body), ...shown } },
  };
}

function responseOf(
  response: DeclaredResponse,
  { route, mounts, limits }: OperationParts,
  components: Components,
): object {
  const { status, description, text } = response;
  const names = headersOf(status, route, limits !== null);
  const json = jsonOf(response, route, components);
  const mounted =
    response.mounted === undefined ? '' : ` The second form is that of ${mounts.join(', ')}.`;
  return {
    description: description + mounted,
    headers: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: {
      ...(json === null ? {} : { 'application/json': json }),
      ...(text === undefined
        ? {}
        : { [text.contentType]: { schema: { type: 'string' }, example: text.example } }),
    },
  };
}

function jsonOf(
  { status, schema, mounted }: DeclaredResponse,
  { examples }: Declaration,
  components: Components,
): object | null {
  if (schema === undefined) return null;
  const whole = components.refer(schema);
  const either = mounted === undefined ? whole : { anyOf: [whole, components.refer(mounted)] };
  if (status >= 300) return { schema: either };
  const [{ response = exampleOf(schema) }] = examples;
  return { schema: either, example: response };
}

const waiting: readonly number[] = [425, 429, 503];
/** Sent before there is a request to count: a path that is too long, and headers that are. */
const uncounted: readonly number[] = [414, 431];

function headersOf(status: number, { headers = [] }: Declaration, isLimited: boolean) {
  return [
    ...(status === 431 ? [] : ['X-Request-Id']),
    ...(isLimited && !uncounted.includes(status)
      ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']
      : []),
    ...(waiting.includes(status) ? ['Retry-After'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status < 300 ? headers : []),
  ];
}
