import {
  type DeclaredResponse,
  operatorResponsesOf,
  responsesOf,
} from '@pm/schemas/routes/responses';
import type { OperatorRouteDeclaration, RouteDeclaration } from '@pm/schemas/routes/route';
import { operatorRoutes } from '@pm/schemas/routes/routes';
import type { FastifyRequest, RouteOptions } from 'fastify';
import type { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { HttpApp } from '../../src/http/app.io.ts';

/** A body that its declaration does not allow: which response, and the first things wrong. */
const mismatches: string[] = [];
const shownMax = 3;

/**
 * Holds every JSON response that an app sends in tests against its declaration: its status is declared, the body fits,
 * and has no field that is not declared. So are the schemas that the operator's routes check. A test in which one does
 * not fails when it ends. `except`: paths of routes that send stored bytes, which tests make up.
 */
export function checkResponses(app: HttpApp, except: readonly string[] = []): void {
  app.addHook('onRoute', (route) => void mismatches.push(...formProblems(route)));
  app.addHook('onSend', (request, reply, payload, done) => {
    const { declaration } = request.routeOptions.config;
    if (except.includes(declaration?.path ?? '')) {
      done();
      return;
    }
    const problems = [
      ...problemsOf(request, reply.statusCode, payload),
      ...undeclaredHeaders(declaration, reply.getHeaders()),
    ];
    if (problems.length > 0) {
      const { method, url } = request.routeOptions;
      mismatches.push(
        `${method} ${url} ${reply.statusCode}: ${problems.slice(0, shownMax).join('; ')}`,
      );
    }
    done();
  });
}

afterEach(() => {
  expect(mismatches.splice(0)).toEqual([]);
});

function problemsOf(request: FastifyRequest, status: number, payload: unknown): readonly string[] {
  const responses = declaredOf(request);
  if (responses === null || request.method === 'HEAD' || !isText(payload)) return [];
  const declared = responses.find((one) => one.status === status);
  if (declared === undefined) return ['the status is not declared'];
  const text = payload.toString();
  if (text === declared.text?.example) return [];
  const { config, url } = request.routeOptions;
  const isMounted = config.declaration !== undefined && url !== config.declaration.path;
  const schema = isMounted ? (declared.mounted ?? declared.schema) : declared.schema;
  if (schema === undefined) return [];
  const body: unknown = JSON.parse(text);
  if (fits(schema, body)) return undeclared(schema, body, '');
  return [...Value.Errors(schema, body)].map(
    ({ instancePath, message }) => `${instancePath} ${message}`,
  );
}

const compiled = new WeakMap<Type.TSchema, (value: unknown) => boolean>();

function fits(schema: Type.TSchema, value: unknown): boolean {
  const known = compiled.get(schema);
  if (known !== undefined) return known(value);
  const validator = Compile(schema);
  compiled.set(schema, (one) => validator.Check(one));
  return validator.Check(value);
}

const tracked = ['age', 'idempotent-replayed', 'server-timing', 'x-complete-through'];

/** Headers of a public route that only some responses have. */
function undeclaredHeaders(
  declaration: RouteDeclaration | undefined,
  sent: object,
): readonly string[] {
  if (declaration === undefined) return [];
  const known = (declaration.headers ?? []).map((name) => name.toLowerCase());
  const found = tracked.filter((name) => name in sent && !known.includes(name));
  return found.map((name) => `the header ${name} is not declared`);
}

const isText = (payload: unknown): payload is string | Buffer =>
  typeof payload === 'string' || Buffer.isBuffer(payload);

const operators: ReadonlyMap<string, OperatorRouteDeclaration> = new Map(
  Object.values(operatorRoutes).map((route: OperatorRouteDeclaration) => [
    `${route.method} ${route.path}`,
    route,
  ]),
);

function declaredOf({ routeOptions }: FastifyRequest): readonly DeclaredResponse[] | null {
  const { config, method, url } = routeOptions;
  const { declaration } = config;
  if (declaration !== undefined) return kept(declaration, () => responsesOf(declaration));
  const operator = operators.get(`${String(method)} ${url}`);
  return operator === undefined ? null : kept(operator, () => operatorResponsesOf(operator));
}

const responsesByRoute = new WeakMap<object, readonly DeclaredResponse[]>();

/** Made once for each route: the schemas of errors are new in each call, and each of them is compiled. */
function kept(route: object, make: () => readonly DeclaredResponse[]): readonly DeclaredResponse[] {
  const responses = responsesByRoute.get(route) ?? make();
  responsesByRoute.set(route, responses);
  return responses;
}

/** How the schemas that Fastify checks a route of the operator by differ from those that are declared. */
function formProblems({ method, url, schema = {} }: RouteOptions): readonly string[] {
  if (!url.startsWith('/operator/') || method === 'HEAD') return [];
  const name = `${String(method)} ${url}`;
  const declared = operators.get(name);
  if (declared === undefined) return [`${name} is not declared`];
  return (['params', 'body'] as const)
    .filter((part) => JSON.stringify(bare(schema[part])) !== JSON.stringify(bare(declared[part])))
    .map((part) => `${name}: its ${part} are checked by another schema than the declared one`);
}

/** A schema without what only documents it; a choice of constants is a list of values. */
function bare(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(bare);
  const { description: _text, examples: _examples, ...rest } = schema as Record<string, unknown>;
  const { anyOf } = rest as { anyOf?: readonly { readonly const?: unknown }[] };
  if (anyOf?.every((one) => one.const !== undefined))
    return { enum: anyOf.map((one) => one.const) };
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, bare(value)]));
}

interface Schema {
  readonly anyOf?: readonly Type.TSchema[];
  readonly properties?: Readonly<Record<string, Type.TSchema>>;
  readonly patternProperties?: object;
  readonly items?: Type.TSchema;
}

/** Places of fields that a body has and its schema does not name. Free objects name none, and may have any. */
function undeclared(schema: Type.TSchema, value: unknown, place: string): readonly string[] {
  const { anyOf, properties, items, patternProperties } = schema as Schema;
  if (anyOf !== undefined) {
    const fitting = anyOf.filter((one) => fits(one, value));
    const found = fitting.map((one) => undeclared(one, value, place));
    return found.find((one) => one.length === 0) ?? found[0] ?? [];
  }
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((one) => undeclared(items, one, `${place}/`));
  }
  if (typeof value !== 'object' || value === null || patternProperties !== undefined) return [];
  if (properties === undefined || Object.keys(properties).length === 0) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const form = properties[name];
    if (form === undefined) return [`${place}/${name} is not declared`];
    return undeclared(form, inner, `${place}/${name}`);
  });
}
