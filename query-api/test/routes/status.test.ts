import { completeThroughMs } from '../../src/core/standing.ts';
import { get, openDoor, World, wallet } from '../in-memory.ts';

const moment = Date.UTC(2026, 5, 1, 11, 59, 59, 500);
const iso = '2026-06-01T11:59:59.500Z';

describe('how far projections are', () => {
  it('is told per projection and partition at the root, and is plain OK under the mounts', async () => {
    const world = new World();
    world.standing = {
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
    const app = openDoor(world);
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
    });
    for (const mount of ['/clob', '/gamma', '/data-api'])
      expect((await get(app, `${mount}/status`)).text).toBe('OK');
  });

  it('stands in a header of what is read from the tables, and of nothing else', async () => {
    const world = new World();
    const app = openDoor(world);
    const url = `/positions?user=${wallet(1)}`;
    expect((await get(app, url)).headers['x-complete-through']).toBeUndefined();
    world.completeThroughMs = moment;
    expect((await get(app, url)).headers['x-complete-through']).toBe(iso);
    expect((await get(app, `/data-api${url}`)).headers['x-complete-through']).toBe(iso);
    expect((await get(app, '/prices-history')).headers['x-complete-through']).toBe(iso);
    expect((await get(app, '/tags')).headers['x-complete-through']).toBeUndefined();
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
