import type { Static, Type } from 'typebox';
import type { OperatorRole } from '../operators.ts';

/**
 * Every public route, the service that owns it, and the family of conventions it follows. The gateway is made from this
 * table; a service refuses to start when its routes and this table differ.
 */
export type HttpService = 'ingress' | 'query-api';

/** Families differ in error bodies; each family is also mounted under its prefix (conventions.md 1.1). */
export type RouteFamily = 'clob' | 'gamma' | 'data';

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path with `:name` for parameters. */
  readonly path: string;
  readonly service: HttpService;
  readonly family: RouteFamily;
  /** Mounts it is served under, when it is not just that of its family. */
  readonly mounts?: readonly RouteFamily[];
  /** Served under its mounts only: at the root the path is not there, or means something else. */
  readonly atRoot?: false;
  /** The largest body, bytes, when it is not that of its service (`bodyMaxBytesOf`). */
  readonly bodyMaxBytes?: number;
}

/** The largest body of the routes of a service that name none, bytes. `mcp`: of `/mcp`. */
export const bodyMaxBytes = {
  ingress: 32 * 1024,
  // 500 tokens of 78 digits with their keys.
  'query-api': 128 * 1024,
  mcp: 64 * 1024,
} as const satisfies Record<HttpService | 'mcp', number>;

/** The largest body of a route, bytes (limits.md). */
export function bodyMaxBytesOf(route: Pick<HttpRoute, 'service' | 'bodyMaxBytes'>): number {
  return route.bodyMaxBytes ?? bodyMaxBytes[route.service];
}

/** Proofs of the identity of a caller (conventions.md 2). `none`: anyone may call. */
export type Authentication =
  | 'none'
  | 'l1'
  | 'l2'
  | 'readOnlyKey'
  | 'builderKey'
  | 'agent'
  | 'operator';

/** Response headers beside those that every response has (`X-Request-Id`, `RateLimit-*`). */
export type ResponseHeader =
  | 'Age'
  | 'Idempotent-Replayed'
  | 'Server-Timing'
  | 'X-Behind'
  | 'X-Complete-Through'
  | 'X-Revocation-Pending';

/** A response with one status. */
export interface ResponseDeclaration {
  readonly description: string;
  /** The JSON body: at the root, and under mounts where `mounted` is absent. */
  readonly schema?: Type.TSchema;
  /** The JSON body under the mounts of the family, where it is another one (conventions.md 1.1). */
  readonly mounted?: Type.TSchema;
  /** A body that is not JSON, by its content type. */
  readonly text?: { readonly contentType: string; readonly example: string };
}

/** A request that means something, and the body of its response where the one made from the schema says too little. */
export interface RouteExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly response?: unknown;
}

/** Requests and responses of a route, public or not. */
export interface Declaration {
  readonly summary: string;
  readonly description?: string;
  /** Any one of these opens the route. */
  readonly auth: readonly Authentication[];
  /** Parameters of the path; text, as they arrive. */
  readonly params?: Type.TObject;
  /** Parameters of the query as they arrive: text, or an array of texts where a list is taken. Nothing is coerced. */
  readonly query?: Type.TObject;
  /** The JSON body. */
  readonly body?: Type.TSchema;
  /** The body may be absent: what it would say is optional or stands in the query. */
  readonly bodyIsOptional?: true;
  /** Takes `Idempotency-Key` (conventions.md 3.9). */
  readonly takesIdempotencyKey?: true;
  /** Takes `SERVICE_TIME_TO_BOOK_MS`, `SERVICE_VALID_UNTIL_MS` and `SERVICE_FIRST_SENT_MS` (conventions.md 3.8). */
  readonly takesTimeToBook?: true;
  readonly headers?: readonly ResponseHeader[];
  /** By status. Errors that any route can have are added by `responsesOf`. */
  readonly responses: Readonly<Record<number, ResponseDeclaration>>;
  /** Texts of the errors of this route by status, in the body of its family. */
  readonly errors?: Readonly<Record<number, string>>;
  readonly examples: readonly [RouteExample, ...RouteExample[]];
}

/**
 * Whether a private request may come again byte for byte with its proof (conventions.md 2.8):
 *
 *   harmless  it may: by an id of its own, or because it changes nothing more
 *   brief     it may within two seconds of the first, since a client can send the same twice in the second that its
 *             timestamp names; later it is refused
 *   refused   it is carried out once
 */
export type Repetition = 'harmless' | 'brief' | 'refused';

/**
 * A public route, declared once: the table of routes, types of clients, documents and `openapi.json` follow from it.
 */
export interface RouteDeclaration extends HttpRoute, Declaration {
  /** Scopes of limits that name this route; those of its group or path are found by `rateRulesOf`. */
  readonly limits?: readonly string[];
  /** Only for routes that an API key opens and that change something. */
  readonly repetition?: Repetition;
  /**
   * Only for a route that changes something: published clients name its object in a query that their signature does not
   * cover, and it counts all the same. Without it such a request is `argument_not_signed`.
   */
  readonly uncoveredQuery?: true;
  /** Wallets that may only close positions are refused it: the whole request, or each item that opens one. */
  readonly opensPositions?: 'request' | 'each';
}

/**
 * When a second operator has to approve a request, in words for documents. `never`: it moves, frees and binds no money,
 * and no traded market pays or costs differently after it.
 */
export const secondPersonCases = {
  never: 'never',
  always: 'always',
  above_limit: 'beyond what one operator moves alone within a day',
  deposit: 'beyond what one operator moves alone within a day, or where it binds a wallet',
  binding: 'for a wallet that has no owner yet',
  release: 'where it takes a restriction away',
  traded: 'where it changes terms of a traded market',
} as const;
export type SecondPersonCase = keyof typeof secondPersonCases;

/** A route of the operator's listener. */
export interface OperatorRouteDeclaration extends Declaration {
  readonly method: HttpRoute['method'] | 'PATCH';
  readonly path: `/operator/${string}`;
  readonly auth: readonly ['operator'];
  /** The role that opens it; `viewer` is everyone with a token. */
  readonly role: OperatorRole;
  /** The operator's program has a guard for each route that does not say `never`. */
  readonly secondPerson: SecondPersonCase;
}

/** Keeps the literal types of a declaration, so that `RouteResponse` and the like know its schemas. */
export function route<const D extends RouteDeclaration>(declaration: D): D {
  return declaration;
}

/**
 * Keeps the literal types of a declaration of the operator's listener, so that `RouteResponse` and the like know its
 * schemas.
 */
export function operatorRoute<const D extends OperatorRouteDeclaration>(declaration: D): D {
  return declaration;
}

type SchemaOf<D> = D extends { readonly schema: infer S extends Type.TSchema }
  ? Static<S>
  : unknown;

/** The body of a good response of a route at the root. */
export type RouteResponse<
  D extends Declaration,
  Status extends keyof D['responses'] = 200 & keyof D['responses'],
> = SchemaOf<D['responses'][Status]>;

/** The body that a route takes. */
export type RouteBody<D extends Declaration> = D extends {
  readonly body: infer S extends Type.TSchema;
}
  ? Static<S>
  : never;

/** Query parameters of a route. */
export type RouteQuery<D extends Declaration> = D extends {
  readonly query: infer S extends Type.TSchema;
}
  ? Static<S>
  : never;

/** Where a family is mounted besides the root. */
export const familyMounts: Readonly<Record<RouteFamily, string>> = {
  clob: '/clob',
  gamma: '/gamma',
  data: '/data-api',
};

/** A URL pattern a route is served at; `mount` is null at the root. */
export interface RouteUrl {
  readonly url: string;
  readonly mount: RouteFamily | null;
}

/**
 * Every URL pattern of a route: at the root unless it is not there, and under its mounts. Listeners take each of them
 * with and without a slash at its end.
 */
export function urlsOf({
  path,
  family,
  mounts = [family],
  atRoot,
}: HttpRoute): readonly RouteUrl[] {
  const root: readonly RouteUrl[] = atRoot === false ? [] : [{ url: path, mount: null }];
  return [...root, ...mounts.map((mount) => ({ url: familyMounts[mount] + path, mount }))];
}
