import { CompletenessMarks, completeThroughMs } from '@pm/domain/status/progress';
import { readInstance } from '../../src/status/stream-instances.ts';
import { get, nowMs, openListener, token, World, wallet } from '../in-memory.ts';

const moment = Date.UTC(2026, 5, 1, 11, 59, 59, 500);
const iso = '2026-06-01T11:59:59.500Z';

describe('how far projections are', () => {
  it('is shown per projection and partition at the root, and is plain OK under the mounts', async () => {
    const world = new World();
    world.progress = {
      ends: new Map([
        [0, 10],
        [1, 7],
      ]),
      projections: [
        {
          projection: 'tables',
          partitions: [
            { partition: 0, offset: 8, momentMs: moment },
            { partition: 1, offset: 7, momentMs: moment + 500 },
          ],
        },
        { projection: 'books', partitions: null },
        { projection: 'ledger', partitions: [{ partition: 0, offset: 10, momentMs: null }] },
      ],
    };
    const app = openListener(world);
    expect((await get(app, '/status')).body).toEqual({
      projections: [
        {
          projection: 'tables',
          known: true,
          completeThrough: iso,
          partitions: [
            { partition: 0, offset: 8, moment: iso, lag: 2 },
            { partition: 1, offset: 7, moment: '2026-06-01T12:00:00.000Z', lag: 0 },
          ],
        },
        { projection: 'books', known: false, completeThrough: null, partitions: [] },
        {
          projection: 'ledger',
          known: true,
          completeThrough: null,
          partitions: [{ partition: 0, offset: 10, moment: null, lag: 0 }],
        },
      ],
      partitions: [],
      streams: [],
      solvency: { sound: true, withdrawals: 'open', frozenWallets: 0 },
    });
    for (const mount of ['/clob', '/gamma', '/data-api'])
      expect((await get(app, `${mount}/status`)).text).toBe('OK');
  });

  it('is shown for the instances of the stream service, without their readers', async () => {
    const world = new World();
    const following = { isCaughtUp: true, fault: null, faultMs: 0, lagRecords: 2 };
    const behind = { isCaughtUp: true, fault: 'log_away', faultMs: 1_500.4, lagRecords: 5 };
    world.streamInstances = [
      readInstance({ connections: 7, partitions: [following, following] }),
      readInstance({ connections: 7, partitions: [following, behind] }),
      readInstance({ partitions: [] }),
      readInstance('away'),
    ];
    const { body } = await get(openListener(world), '/status');
    expect(body).toMatchObject({
      streams: [
        { known: true, follows: true, lag: 4, faultMs: 0 },
        { known: true, follows: false, lag: 7, faultMs: 1_500 },
        { known: true, follows: false, lag: 0, faultMs: 0 },
        { known: false, follows: false, lag: 0, faultMs: 0 },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('connections');
  });

  it('is in a header of responses read from the tables, and of no others', async () => {
    const world = new World();
    const app = openListener(world);
    const url = `/positions?user=${wallet(1)}`;
    expect((await get(app, url)).headers['x-complete-through']).toBeUndefined();
    world.completeThroughMs = moment;
    expect((await get(app, url)).headers['x-complete-through']).toBe(iso);
    expect((await get(app, `/data-api${url}`)).headers['x-complete-through']).toBe(iso);
    for (const path of [
      `/prices-history?market=${token(1, 0)}&interval=1d`,
      `/candles?token_id=${token(1, 0)}`,
      `/rebates/current?maker_address=${wallet(1)}&date=2026-06-01`,
    ])
      expect(await get(app, path)).toMatchObject({
        status: 200,
        headers: { 'x-complete-through': iso },
      });
    for (const path of ['/tags', '/prices-history', '/candles', '/positions', '/rebates/current'])
      expect((await get(app, path)).headers['x-complete-through']).toBeUndefined();
    world.away = 'clickhouse';
    const failed = await get(app, url);
    expect([failed.status, failed.headers['x-complete-through']]).toEqual([503, undefined]);
  });

  it('is that of the figures for lists that show or are sorted by them', async () => {
    const world = new World();
    const app = openListener(world);
    world.completeThroughMs = moment;
    world.completeThroughAtMs = (readAtMs) => readAtMs - 1_500;
    const through = new Date(nowMs - 21_000 - 1_500).toISOString();
    for (const path of ['/events', '/markets', '/gamma/markets/1', '/gamma/events/keyset'])
      expect([path, (await get(app, path)).headers['x-complete-through']]).toEqual([path, through]);
    for (const path of ['/gamma/markets/999', '/public-search'])
      expect((await get(app, path)).headers['x-complete-through']).toBeUndefined();
    world.hasFigures = false;
    expect((await get(app, '/markets')).headers['x-complete-through']).toBeUndefined();
  });

  it('is that of the time they were read for answers that are kept', async () => {
    const world = new World();
    const app = openListener(world);
    world.completeThroughMs = nowMs - 500;
    world.completeThroughAtMs = (readAtMs) => readAtMs - 1_500;
    for (const [url, ageSeconds, skewMs = 0] of [
      ['/live-volume?id=1', 21],
      ['/oi', 42],
      ['/v1/builders/leaderboard', 33],
      ['/v1/builders/volume', 33],
      [`/builder/volume?builder=0x${'70'.repeat(32)}`, 33],
      // Computed by the clock of another process.
      ['/v1/leaderboard', 7.5, 5_000],
    ] as const) {
      const { status, headers } = await get(app, url);
      const through = new Date(nowMs - 1_500 - ageSeconds * 1_000 - skewMs).toISOString();
      expect([status, headers['age'], headers['x-complete-through']]).toEqual([
        ...[200, String(Math.floor(ageSeconds)), through],
      ]);
    }
    world.completeThroughAtMs = () => null;
    expect((await get(app, '/oi')).headers['x-complete-through']).toBeUndefined();
  });

  it('is remembered by the time since which it was known', () => {
    const marks = new CompletenessMarks();
    expect([marks.newest(), marks.at(1_000)]).toEqual([null, null]);
    for (let second = 0; second < 2_000; second += 1) {
      marks.note({ knownAtMs: second * 1_000 + 400, throughMs: second * 1_000 });
      marks.note({ knownAtMs: second * 1_000 + 900, throughMs: second * 1_000 });
    }
    expect(marks.newest()).toBe(1_999_000);
    expect(marks.at(1_999_399)).toBe(1_998_000);
    expect(marks.at(1_999_400)).toBe(1_999_000);
    expect(marks.at(1_000_000)).toBeNull();
    // Tables that were lost: of what was read before that it is known still.
    marks.note({ knownAtMs: 2_000_400, throughMs: null });
    expect([marks.newest(), marks.at(2_000_399), marks.at(2_000_400)]).toEqual([
      ...[null, 1_999_000, null],
    ]);
  });

  it('is the oldest moment of the partitions that have records, and unknown when one has none', () => {
    const at = (partition: number, momentMs: number) => ({ partition, offset: 1, momentMs });
    const ends = new Map([
      [0, 5],
      [1, 5],
      [2, 0],
    ]);
    expect(completeThroughMs([at(0, 30), at(1, 20)], ends)).toBe(20);
    expect(completeThroughMs([at(0, 30)], ends)).toBeNull();
    expect(completeThroughMs([at(0, 30), at(1, 0)], ends)).toBeNull();
    expect(completeThroughMs([], new Map())).toBeNull();
  });
});
