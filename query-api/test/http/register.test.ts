import { openHttp, registerRoutes } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { wrongResponsesToMethods } from '../../../kit/test/http/odd-methods.ts';
import { readRoute } from '../../src/http/read-route.io.ts';
import { openListener, token, World, wallet } from '../in-memory.ts';

const table: readonly HttpRoute[] = routes.filter((route) => route.service === 'query-api');
const emptyApp = () => openHttp({ log: silentLog, bodyLimitBytes: 1_000 });
const routeOf = ({ method, path }: HttpRoute) =>
  readRoute({ method: method === 'GET' ? 'GET' : 'POST', path, family: 'clob' }, () => ({}));

/** Routes are found by their path without a slash at its end. */
const withoutSlash = (url: string) => url.replace(/(.)\/$/, '$1');

describe('the routes of query-api', () => {
  it('are those of the table, at the root and under their mounts', () => {
    const app = openListener(new World());
    for (const route of table) {
      const { method } = route;
      for (const one of urlsOf(route)) {
        const url = withoutSlash(one.url);
        expect(app.hasRoute({ method, url })).toBe(true);
      }
    }
  });

  it('are refused when one is missing, unknown or there twice', () => {
    const given = table.map((route) => ({ ...routeOf(route), method: route.method }));
    const extra = readRoute({ method: 'GET', path: '/extra', family: 'clob' }, () => ({}));
    expect(() => registerRoutes(emptyApp(), 'query-api', given.slice(1))).toThrow('routes_differ');
    expect(() => registerRoutes(emptyApp(), 'query-api', [...given, extra])).toThrow(
      'routes_differ',
    );
    expect(() => registerRoutes(emptyApp(), 'query-api', [...given, ...given.slice(0, 1)])).toThrow(
      'routes_differ',
    );
    expect(() => registerRoutes(emptyApp(), 'query-api', given)).not.toThrow();
  });

  it('answer HEAD as GET, without the body', async () => {
    const world = new World();
    world.completeThroughMs = Date.UTC(2026, 5, 1);
    const app = openListener(world);
    for (const { method, ...route } of table.filter((one) => one.method === 'GET')) {
      for (const { url } of urlsOf({ method, ...route })) {
        expect(app.hasRoute({ method: 'HEAD', url: withoutSlash(url) })).toBe(true);
      }
    }
    for (const [url, status] of [
      [`/book?token_id=${token(1, 0)}`, 200],
      ['/clob/book', 400],
      ['/status', 200],
      ['/gamma/status', 200],
      ['/events', 200],
      ['/events/77', 404],
      [`/data-api/positions?user=${wallet(1)}`, 200],
      ['/data/orders', 401],
    ] as const) {
      const [whole, head] = [await app.inject(url), await app.inject({ method: 'HEAD', url })];
      const shown = ({ headers }: typeof head) => ({ ...headers, date: '', 'x-request-id': '' });
      expect([head.statusCode, head.body, shown(head)]).toEqual([status, '', shown(whole)]);
      expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(whole.body));
    }
  });

  it('have an answer to every method', async () => {
    expect(await wrongResponsesToMethods(openListener(new World()), table)).toEqual([]);
  });

  it('answer 500 in the words of the family for an unforeseen error, without its text', async () => {
    const world = new World();
    world.catalog.event = () => {
      throw new Error('secret');
    };
    const answer = await openListener(world).inject('/events/1');
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      { type: 'internal error', error: 'internal error' },
    ]);
  });
});
