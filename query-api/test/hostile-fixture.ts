import type { ClickHouse } from '@pm/kit/clickhouse';
import { type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { bodyMaxBytes, type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import type { Dice } from '../../kit/test/hostile/dice.ts';
import { isErrorOf } from '../../kit/test/hostile/error-bodies.ts';
import { hostileNames, hostileTexts, hostileValue } from '../../kit/test/hostile/hostile-values.ts';
import { spoil, spoilBytes } from '../../kit/test/hostile/spoil.ts';
import type { ReadParts } from '../src/http/app.route.ts';
import { addReadRoutes } from '../src/http/app.route.ts';
import { OwnRecords } from '../src/recent/own-reads.io.ts';
import { RecentLog } from '../src/recent/recent-log.ts';
import { Leaderboards } from '../src/reports/newest-leaderboards.io.ts';
import { Reports } from '../src/reports/reports.io.ts';
import { TableReads } from '../src/tables/tables.io.ts';
import { apiKey, condition, token, type World, wallet } from './in-memory.ts';
import { orderId } from './order-rows.ts';
import { clockOf } from './read-clock.ts';

/** Routes of query-api. */
export const readRoutes: readonly HttpRoute[] = (routes as readonly HttpRoute[]).filter(
  ({ service }) => service === 'query-api',
);

/** Values with a meaning, so that requests come further than the first check. */
const knownTexts: readonly string[] = [
  ...[token(1, 0), token(2, 1), condition(1), condition(2), wallet(1), wallet(2), orderId],
  ...[
    apiKey(1),
    '1',
    '3',
    '7',
    'event-1',
    'market-1',
    'daily',
    'crypto',
    'Question',
    'BUY',
    'SELL',
  ],
  ...['1h', '1d', 'max', '60', '100', '1780000000', '1780315200', 'true', 'false', '2026-01-01'],
  ...[
    'COLLATERAL',
    'CONDITIONAL',
    'ASC',
    'DESC',
    'CURRENT',
    'volume',
    'startDate',
    'Event',
    'MA==',
  ],
];

/** Texts that would mean something to a database if they ever became part of a statement. */
export const databaseTexts: readonly string[] = [
  ...["' OR 1=1 --", "'; DROP TABLE positions; --", "') UNION ALL SELECT 1 --", '%%_%', '\\%\\_'],
  ...['{wallet:String}', "\\' OR sleep(3)", 'id, (SELECT 1)', '`name`', '1; SELECT version()'],
];

/**
 * Which parameters and fields each route looks for: seen by watching which fields of the query and of the body it
 * reads. So a new parameter is met by hostile values without being named anywhere.
 */
export class RequestedNames {
  readonly #names = new Map<string, Set<string>>();

  of({ method, path }: HttpRoute): readonly string[] {
    return [...(this.#names.get(`${method} ${path}`) ?? [])];
  }

  /** Watches from now on which fields the routes of the app read. */
  watch(app: HttpApp): void {
    const named = new Map<string, HttpRoute>(
      readRoutes.flatMap((route) =>
        urlsOf(route).map(({ url }) => [`${route.method} ${url}`, route]),
      ),
    );
    app.addHook('preHandler', async (request) => {
      const route = named.get(`${request.method} ${request.routeOptions.url}`);
      if (route === undefined) return;
      const names = this.#names.get(`${route.method} ${route.path}`) ?? new Set<string>();
      this.#names.set(`${route.method} ${route.path}`, names);
      request.query = watched(request.query, names);
      request.body = watched(request.body, names);
    });
  }
}

/** The value, noting the names of fields that are looked for. */
function watched<T>(value: T, names: Set<string>): T {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      if (typeof name === 'string' && !Array.isArray(target) && !(name in Object.prototype)) {
        names.add(name);
      }
      const found = Reflect.get(target, name, receiver) as unknown;
      // A proxy of a frozen object (a body that came again) must return the property value itself.
      return Object.isFrozen(target) ? found : watched(found, names);
    },
  }) as T;
}

export interface HostileRead {
  readonly route: HttpRoute;
  readonly url: string;
  readonly body: Buffer | null;
  /** Whether the path can be decoded, so that the route is met. */
  readonly isRouted: boolean;
}

/** A read with wrong values of everything the route is known to look for, and of things it does not know. */
export function hostileRead(route: HttpRoute, requested: RequestedNames, dice: Dice): HostileRead {
  const names = requested.of(route);
  const path = pathOf(route, () => textOf(dice), dice);
  const isRouted = !dice.isOneIn(80);
  const url = `${path}${isRouted ? '' : '%ff%'}?${queryOf(names, dice)}`;
  return { route, url, isRouted, body: route.method === 'POST' ? bodyOf(names, dice) : null };
}

/** One text in every place of the route, one at a time. */
export function* readsWith(
  text: string,
  route: HttpRoute,
  requested: RequestedNames,
  dice: Dice,
): Generator<HostileRead> {
  const isPost = route.method === 'POST';
  const place = { route, isRouted: true };
  const plain = () => pathOf(route, () => dice.pick(knownTexts), dice);
  if (route.path.includes(':')) {
    yield {
      ...place,
      url: pathOf(route, () => text, dice),
      body: isPost ? Buffer.from('{}') : null,
    };
  }
  for (const name of requested.of(route)) {
    const body = isPost
      ? Buffer.from(JSON.stringify(dice.pick([[{ [name]: text }], { [name]: text }])))
      : null;
    const others = requested.of(route).filter((other) => other !== name && dice.isOneIn(3));
    const query: [string, string][] = others.map((other) => [other, dice.pick(knownTexts)]);
    query.push([name, text]);
    yield { ...place, url: `${plain()}?${new URLSearchParams(query)}`, body };
  }
}

function readInjection({ route, url, body }: HostileRead): InjectOptions {
  const headers = { 'content-type': 'application/json' };
  const sent = { method: route.method, url, headers } as InjectOptions;
  return body === null ? sent : { ...sent, payload: body };
}

function pathOf(route: HttpRoute, textIn: () => string, dice: Dice): string {
  return dice.pick(urlsOf(route)).url.replace(/:\w+/g, () => escaped(textIn().slice(0, 80)) || 'x');
}

function textOf(dice: Dice): string {
  return dice.pick(dice.isOneIn(2) ? knownTexts : dice.isOneIn(4) ? databaseTexts : hostileTexts);
}

function queryOf(names: readonly string[], dice: Dice): string {
  const pairs = Array.from({ length: dice.below(6) }, () => {
    const isKnown = names.length > 0 && !dice.isOneIn(6);
    const name = dice.pick(isKnown ? names : hostileNames);
    const value = dice.isOneIn(30) ? dice.pick(['%', '%zz', '%ff', '%00', '+', '=&=']) : null;
    const pair = `${escaped(name)}=${value ?? escaped(textOf(dice))}`;
    return dice.isOneIn(8) ? `${pair}&${pair}` : pair;
  });
  return pairs.join('&');
}

/** As a careful client would write it; half a surrogate pair has no UTF-8. */
function escaped(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

function bodyOf(names: readonly string[], dice: Dice): Buffer {
  const object = () =>
    Object.fromEntries(
      names.map((name) => [name, dice.isOneIn(4) ? [textOf(dice)] : textOf(dice)]),
    );
  const shapes = [
    () => object(),
    () => Array.from({ length: 1 + dice.below(4) }, object),
    () => Array.from({ length: dice.pick([1, 20, 501]) }, () => dice.pick(knownTexts)),
    () => hostileValue(dice),
  ];
  const value = dice.pick(shapes)();
  const json = JSON.stringify(dice.isOneIn(2) ? spoil(value, dice) : value) ?? '';
  return dice.isOneIn(4) ? spoilBytes(json, dice) : Buffer.from(json);
}

/** Parts whose tables are read from this ClickHouse; everything else comes from the world. */
export function partsOver(world: World, clickhouse: Pick<ClickHouse, 'selectRows'>): ReadParts {
  const { nowMs, ...others } = world.parts();
  const recent = new RecentLog();
  return {
    ...others,
    nowMs,
    tables: new TableReads(clickhouse),
    reports: new Reports(clickhouse, clockOf(nowMs)),
    leaderboards: new Leaderboards(clickhouse, nowMs),
    own: new OwnRecords({ clickhouse, recent, settle: async () => true }),
  };
}

/** Readers: by an API key, by a read-only one, and without any. */
export const readers = [
  { wallet: wallet(1), apiKey: apiKey(1) },
  { wallet: wallet(1), apiKey: null },
  null,
];

/** An HTTP app over these parts. */
export function openHostileListener(parts: ReadParts, requested: RequestedNames): HttpApp {
  const app = openHttp({ log: silentLog, bodyLimitBytes: bodyMaxBytes['query-api'] });
  requested.watch(app);
  addReadRoutes(app, parts);
  return app;
}

const refused = [400, 401, 404, 413, 415];

/** Sends reads and keeps what was answered otherwise than documented. */
export class ReadJudge {
  readonly statuses = new Map<number, number>();
  readonly wrong: unknown[] = [];
  sent = 0;
  /** Statuses that are right besides, while something is away. */
  alsoAllowed: readonly number[] = [];

  async send(app: HttpApp, hostile: HostileRead): Promise<void> {
    const answer = await app.inject(readInjection(hostile));
    const { statusCode: status } = answer;
    this.sent += 1;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (this.#isDocumented(hostile, answer) || this.wrong.length >= 10) return;
    const body = hostile.body?.toString('utf8').slice(0, 1_000);
    this.wrong.push([hostile.route.method, hostile.url, body, status, answer.body.slice(0, 500)]);
  }

  #isDocumented({ route, isRouted }: HostileRead, answer: LightMyRequestResponse): boolean {
    const { statusCode: status } = answer;
    if (status === 200 && answer.body === 'OK') return route.path === '/status';
    if (status === 200 && answer.body.startsWith('<!doctype')) {
      return ['/docs', '/console', '/console/'].includes(route.path);
    }
    if (!String(answer.headers['content-type']).startsWith('application/json')) return false;
    const body = answer.json() as unknown;
    if (status === 200 || status === 207) return typeof body === 'object' && body !== null;
    if (!isRouted) return status === 400;
    return [...refused, ...this.alsoAllowed].includes(status) && isErrorOf(route, body);
  }
}
