import type { ClickHouse, QueryParameter } from '@pm/kit/clickhouse';
import type { HttpApp } from '@pm/kit/http';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { heapInUse } from '../../../kit/test/hostile/heap.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import {
  databaseTexts,
  type HostileRead,
  hostileRead,
  openHostileListener,
  partsOver,
  ReadJudge,
  RequestedNames,
  readers,
  readRoutes,
  readsWith,
} from '../hostile-fixture.ts';
import { World } from '../in-memory.ts';

const randomReads = runLength({ test: 1_000, deep: 14_000 });
/** Reads of each route, after which its statements are known. */
const warmUpReadsPerRoute = 20;
const warmUpReads = warmUpReadsPerRoute * readRoutes.length;
/** Reads while one store is away. */
const readsWhileAway = runLength({ test: 250, deep: 1_500 });
const databaseReadsMin = 3_000;
/** Growth of the heap that remains after a collection: by what is made once, and by each read. */
const heapGrowthMaxBytes = { once: 4 * 1024 * 1024, perRead: 600 };
/** Statements differ by which filters are given, never by their values. */
const statementsMax = 64;

interface Asked {
  readonly sql: string;
  readonly params: Readonly<Record<string, QueryParameter>>;
}

/** Tables without rows that keep what they were requested; leaderboards were computed once. */
class AskedTables implements Pick<ClickHouse, 'selectRows'> {
  readonly statements = new Set<string>();
  readonly unbound: unknown[] = [];
  requested: Asked[] = [];

  async selectRows<T>(sql: string, params: Asked['params'] = {}): Promise<readonly T[]> {
    this.statements.add(sql);
    this.requested.push({ sql, params });
    const wanted = new Set([...sql.matchAll(/\{(\w+):[\w(), ]+\}/g)].map(([, name]) => name));
    const given = Object.keys(params);
    if (given.length !== wanted.size || given.some((name) => !wanted.has(name))) {
      this.unbound.push([sql, given]);
    }
    return sql.includes('max(snapshot)') ? ([{ newest: '1' }] as T[]) : [];
  }
}

const world = new World();
const tables = new AskedTables();
const requested = new RequestedNames();
const dice = new Dice(20_260_601);
const judge = new ReadJudge();
const foreign: unknown[] = [];
let app: HttpApp;

beforeAll(() => {
  app = openHostileListener(partsOver(world, tables), requested);
});
afterAll(() => app.close());

async function send(hostile: HostileRead, text: string | null = null): Promise<void> {
  world.caller = dice.pick(readers);
  world.verified.length = 0;
  tables.requested = [];
  await judge.send(app, hostile);
  const bad = tables.requested.filter(({ sql }) => text !== null && sql.includes(text));
  foreign.push(...bad.slice(0, 3));
}

test('of many hostile reads none fails the service, all have documented answers, none stays in memory', async () => {
  for (let count = 0; count < warmUpReadsPerRoute; count += 1) {
    for (const route of readRoutes) await send(hostileRead(route, requested, dice));
  }
  const before = await heapInUse();
  for (let count = 0; count < randomReads; count += 1) {
    await send(hostileRead(dice.pick(readRoutes), requested, dice));
  }
  for (const route of readRoutes) {
    for (const text of databaseTexts) {
      for (const hostile of readsWith(text, route, requested, dice)) await send(hostile, text);
    }
  }
  expect((await heapInUse()) - before).toBeLessThan(
    heapGrowthMaxBytes.once + judge.sent * heapGrowthMaxBytes.perRead,
  );
  expect(judge.wrong).toEqual([]);
  expect(judge.sent - warmUpReads - randomReads).toBeGreaterThan(databaseReadsMin);
  expect([...judge.statuses.keys()].sort()).toEqual([200, 207, 400, 401, 404]);
}, 600_000);

test('no statement holds text of a request, all values are bound, and there are only so many statements', () => {
  expect(tables.unbound).toEqual([]);
  expect(foreign).toEqual([]);
  expect(tables.statements.size).toBeGreaterThan(5);
  expect(tables.statements.size).toBeLessThanOrEqual(statementsMax);
  // Whatever stands in quotes was written by us.
  const literals = [...tables.statements].flatMap((sql) => sql.match(/'[^']*'/g) ?? []);
  const ours = ["''", "'FILLED'", "'MAKER'", "'TAKER'"];
  expect(literals.length).toBeGreaterThan(0);
  expect(literals.filter((literal) => !ours.includes(literal))).toEqual([]);
});

test('the parameters that routes read are observed, so that new ones are tested too', () => {
  const namesOf = (named: string) =>
    readRoutes
      .filter((route) => `${route.method} ${route.path}` === named)
      .flatMap((one) => [...requested.of(one)]);
  expect(namesOf('GET /positions')).toEqual(
    expect.arrayContaining(['user', 'sortBy', 'sizeThreshold']),
  );
  expect(namesOf('GET /events')).toEqual(expect.arrayContaining(['order', 'tag_id', 'volume_min']));
  expect(namesOf('POST /books')).toEqual(expect.arrayContaining(['token_id']));
  expect(namesOf('POST /batch-prices-history')).toEqual(
    expect.arrayContaining(['markets', 'interval']),
  );
});

test('while a store is away reads answer 503 in the words of the family', async () => {
  const plain = new World();
  const service = openHostileListener(plain.parts(), new RequestedNames());
  const away = new ReadJudge();
  away.alsoAllowed = [503];
  for (const store of ['redis', 'clickhouse'] as const) {
    plain.away = store;
    for (let count = 0; count < readsWhileAway; count += 1) {
      plain.caller = dice.pick(readers);
      await away.send(service, hostileRead(dice.pick(readRoutes), requested, dice));
    }
  }
  expect(away.wrong).toEqual([]);
  expect(away.statuses.get(503)).toBeGreaterThan(readsWhileAway / 75);
  await service.close();
}, 300_000);
