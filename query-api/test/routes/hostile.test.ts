import { ErrorAnswer, type HttpRoute, routes, TypedErrorAnswer, urlsOf } from '@pm/schemas';
import { Value } from 'typebox/value';
import { condition, get, openDoor, post, type Seen, token, World, wallet } from '../in-memory.ts';
import { randomOf } from '../random.ts';

const names = [
  'token_id',
  'side',
  'market',
  'startTs',
  'endTs',
  'interval',
  'fidelity',
  'user',
  'sizeThreshold',
  'redeemable',
  'mergeable',
  'limit',
  'offset',
  'sortBy',
  'sortDirection',
  'title',
  'minBalance',
  'next_cursor',
  'id',
  'maker_address',
  'asset_id',
  'before',
  'after',
  'tag',
  'tag_id',
  'slug',
  'order',
  'ascending',
  'creator',
  'closed',
  'q',
  'page',
  'limit_per_type',
  'search_tags',
  'after_cursor',
  'clob_token_ids',
  'condition_ids',
  'event_id',
  'exclude_tag_id',
  'volume_min',
  'start_date_min',
  'sort',
  '__proto__',
  'constructor',
  'toString',
  'x[]',
  'x[y]',
  '%00',
  '',
];
const values = [
  "' OR 1=1 --",
  "'; DROP TABLE positions; --",
  '{wallet:String}',
  '%',
  '_',
  '\\',
  '%%',
  '*',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-0',
  '0',
  '1',
  '-1',
  '1e309',
  '9'.repeat(400),
  '0x',
  `0x${'f'.repeat(64)}`,
  '\u0000',
  '\n',
  '💥',
  'é'.repeat(200),
  'true',
  'TRUE',
  'BUY',
  '1d',
  'max',
  'MA==',
  'LTE=',
  'LTI=',
  'WyJpZCIsMSwxXQ',
  'WyJpZCIsbnVsbCxudWxsXQ',
  '2026-02-30T99:00:00Z',
  'id,slug',
  '../../etc/passwd',
  '<script>',
  ',',
  ',,,',
  token(1, 0),
  condition(1),
  wallet(1),
  'DESC',
  'TITLE',
  'a,b,c',
  '0.1',
  '.5',
  '00',
  ' 1',
  '+1',
];
const table: readonly HttpRoute[] = routes.filter((route) => route.door === 'query-api');

describe('hostile requests', () => {
  const random = randomOf(20_260_601);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const pathOf = (route: HttpRoute) =>
    pick(urlsOf(route)).url.replace(
      /:\w+/g,
      () => encodeURIComponent(pick(values).slice(0, 80)) || 'x',
    );
  const queryOf = () =>
    Array.from(
      { length: Math.floor(random() * 6) },
      () => `${encodeURIComponent(pick(names))}=${encodeURIComponent(pick(values))}`,
    ).join('&');
  const bodyOf = (depth: number): unknown => {
    const kind = Math.floor(random() * 6);
    if (kind === 0 && depth > 0) return Array.from({ length: 3 }, () => bodyOf(depth - 1));
    if (kind === 1 && depth > 0)
      return {
        [pick(names)]: bodyOf(depth - 1),
        markets: bodyOf(depth - 1),
        token_id: pick(values),
      };
    return pick<unknown>([...values, 1, -1, null, true, 1e300, []]);
  };

  it('5,000 of them get answers of the documented forms and never a 5xx', async () => {
    const world = new World();
    world.caller = { wallet: wallet(1), apiKey: 'k' as never };
    const app = openDoor(world);
    const statuses = new Map<number, number>();
    const wrong: unknown[] = [];
    for (let count = 0; count < 5_000; count += 1) {
      const route = pick(table);
      const url = `${pathOf(route)}?${queryOf()}`;
      const answer =
        route.method === 'POST' ? await post(app, url, bodyOf(3)) : await get(app, url);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (!isDocumented(route, answer)) wrong.push([url, answer.status, answer.text]);
    }
    expect(wrong).toEqual([]);
    expect([...statuses.keys()].sort()).toEqual([200, 207, 400, 404]);
    for (const status of [200, 400, 404]) expect(statuses.get(status)).toBeGreaterThan(100);
  }, 60_000);
});

/** Paths that two families share have the error bodies of both. */
function isDocumented(route: HttpRoute, answer: Seen): boolean {
  if (answer.status === 200 || answer.status === 207) return true;
  const families = [route.family, ...(route.mounts ?? [])];
  const schemas = families.map((family) => (family === 'gamma' ? TypedErrorAnswer : ErrorAnswer));
  const isKnown = schemas.some((schema) => Value.Check(schema, answer.body));
  return [400, 404].includes(answer.status) && isKnown;
}
