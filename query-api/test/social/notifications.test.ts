import type { FillRow } from '@pm/domain/orders/trades';
import { Notification } from '@pm/schemas/http/notifications';
import { notificationId } from '@pm/schemas/notification-id';
import { tradeHash } from '@pm/schemas/trade-id';
import { Value } from 'typebox/value';
import {
  apiKey,
  condition,
  get,
  marketEntry,
  nowMs,
  openListener,
  token,
  World,
  wallet,
} from '../in-memory.ts';
import { orderId, orderRow } from '../order-rows.ts';

const user = wallet(1);
const other = `0x${'cd'.repeat(32)}`;
const fill = (timeMs: number, changes: Partial<FillRow> = {}): FillRow => ({
  partition: 3,
  inOffset: '77',
  eventIndex: 4,
  timeMs,
  market: 1,
  sizeMicro: 2_500_000,
  takerOrder: other,
  taker: wallet(2),
  takerKey: apiKey(2),
  takerOutcome: 1,
  takerSide: 'BUY',
  takerPrice: 4800,
  makerOrder: orderId,
  maker: user,
  makerKey: apiKey(1),
  makerOutcome: 0,
  makerSide: 'BUY',
  makerPrice: 5200,
  feeRateBps: 441,
  ...changes,
});
const known = () => {
  const world = new World();
  world.caller = { wallet: user, apiKey: apiKey(1) };
  world.orders.set(orderId, [
    orderRow(),
    orderRow({ kind: 'FILLED', eventIndex: 4, sizeMicro: 2_500_000, role: 'MAKER' }),
  ]);
  return { world, app: openListener(world) };
};
const list = async (world: World) =>
  (await get(openListener(world), '/notifications')).body as Notification[];

describe('GET /notifications', () => {
  it('shows fills with the current state of their order', async () => {
    const { world, app } = known();
    world.trades.push(fill(nowMs - 5));
    const answer = (await get(app, '/clob/notifications?signature_type=0')).body as Notification[];
    for (const one of answer) expect([...Value.Errors(Notification, one)]).toEqual([]);
    expect(answer).toEqual([
      {
        id: notificationId('fill 3-77-4 MAKER'),
        timestamp: nowMs - 5,
        type: 2,
        owner: apiKey(1),
        payload: expect.objectContaining({
          asset_id: token(1, 0),
          condition_id: condition(1),
          market: condition(1),
          market_slug: 'market-1',
          eventSlug: 'event-1',
          seriesSlug: 'daily',
          order_id: orderId,
          original_size: '10',
          matched_size: '2.5',
          remaining_size: '7.5',
          outcome: 'Yes',
          outcome_index: 0,
          price: '0.52',
          side: 'BUY',
          type: 'GTC',
          trade_id: '3-77-4',
          transaction_hash: tradeHash('3-77-4'),
          owner: apiKey(1),
          reason: null,
        }),
      },
    ]);
  });

  it('shows cancels with their reason and resolutions of markets of the caller', async () => {
    const { world } = known();
    const resolved = { mode: 'RESOLVED', payout0: 0, updatedAtMs: nowMs - 2 } as const;
    world.catalog.apply(marketEntry(2, resolved));
    world.catalog.apply(marketEntry(3, { ...resolved, updatedAtMs: nowMs - 8 * 86_400_000 }));
    world.held.add(1).add(2).add(3);
    world.cancels.push({
      ...orderRow({ kind: 'CANCELED', timeMs: nowMs - 1, reason: 'SESSION' }),
    });
    const shown = await list(world);
    expect(shown.map(({ type, payload }) => [type, payload.reason, payload.order_id])).toEqual([
      [1, 'session', orderId],
      [4, null, ''],
    ]);
    expect(shown[1]?.payload).toMatchObject({
      market: condition(2),
      outcome: 'No',
      price: '1',
      asset_id: token(2, 1),
    });
    for (const one of shown) expect([...Value.Errors(Notification, one)]).toEqual([]);
  });

  it('shows both sides of a trade between own orders, each once', async () => {
    const { world } = known();
    world.trades.push(fill(nowMs, { taker: user, takerKey: apiKey(1) }));
    const shown = await list(world);
    expect(new Set(shown.map(({ id }) => id)).size).toBe(2);
  });

  it('shows the newest 100 of seven days, without deleted ones', async () => {
    const { world } = known();
    for (let index = 0; index < 150; index += 1) {
      world.trades.push(fill(nowMs - index, { eventIndex: index }));
    }
    const first = await list(world);
    expect(first).toHaveLength(100);
    expect(first[0]?.timestamp).toBe(nowMs);
    world.deleted.add(first[0]?.id ?? 0);
    const second = await list(world);
    expect(second).toHaveLength(100);
    expect(second[0]?.timestamp).toBe(nowMs - 1);
    expect(world.searches.at(-1)).toMatchObject({
      limit: 101,
      query: { afterS: Math.floor(nowMs / 1000) - 7 * 86_400 },
    });
  });

  it('requires a proven key', async () => {
    expect((await get(openListener(new World()), '/notifications')).status).toBe(401);
  });
});
