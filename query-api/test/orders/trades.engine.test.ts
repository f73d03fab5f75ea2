import { anyTrade, type TradesQuery } from '@pm/domain/orders/trades';
import { type OrderId, parseOrderId } from '@pm/schemas/ids';
import { tables } from '@pm/schemas/tables/tables';
import { OwnRecords } from '../../src/recent/own-reads.io.ts';
import { RecentLog } from '../../src/recent/recent-log.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { apiKey, wallet } from '../in-memory.ts';

/** SQL of orders and trades against real tables. */
let database: FreshDatabase;
let own: OwnRecords;
const day = Date.UTC(2026, 5, 1) / 1000;

beforeAll(async () => {
  database = await freshDatabase();
  const { clickhouse } = database;
  own = new OwnRecords({ clickhouse, recent: new RecentLog(), settle: async () => true });
}, 60_000);

afterAll(() => database.drop());

const orderId = (index: number): OrderId =>
  parseOrderId(`0x${index.toString(16).padStart(64, '0')}`) as OrderId;
const zero = `0x${'0'.repeat(64)}`;

describe('order events', () => {
  const event = (changes: Row): Row => ({
    partition: 3,
    in_offset: '9007199254740993',
    event_index: 1,
    time: at(day),
    order_id: orderId(1),
    kind: 'FILLED',
    wallet: wallet(1),
    api_key: apiKey(1),
    market: 1,
    outcome: 1,
    side: 'SELL',
    price: '0.52',
    size: '2.5',
    resting: '1',
    reason: '',
    role: 'TAKER',
    ...changes,
  });
  beforeAll(() =>
    database.fill(tables.orderEvents, [
      event({}),
      event({}),
      event({
        event_index: 2,
        kind: 'PLACED',
        role: null,
        time_in_force: 'GTD',
        expires_at: at(day + 300),
        accepted_at: at(day - 0.5),
        status: 'LIVE',
      }),
      event({ in_offset: '9007199254740999', kind: 'CANCELED', reason: 'USER' }),
      event({ order_id: orderId(2), kind: 'REFUSED', reason: 'too_late' }),
    ]),
  );

  it('come once each, placement and end before fills, with exact offsets', async () => {
    const rows = await own.orderEvents([orderId(1)]);
    expect(rows.map((row) => row.kind)).toEqual(['PLACED', 'CANCELED', 'FILLED']);
    expect(rows[0]).toMatchObject({
      timeInForce: 'GTD',
      expiresAtMs: (day + 300) * 1000,
      acceptedAtMs: day * 1000 - 500,
      status: 'LIVE',
    });
    expect(rows[2]).toEqual({
      partition: 3,
      inOffset: '9007199254740993',
      eventIndex: 1,
      timeMs: day * 1000,
      orderId: orderId(1),
      kind: 'FILLED',
      wallet: wallet(1),
      apiKey: apiKey(1),
      market: 1,
      outcome: 1,
      side: 'SELL',
      price: 5200,
      sizeMicro: 2_500_000,
      restingMicro: 1_000_000,
      role: 'TAKER',
    });
    expect(await own.orderEvents([orderId(2)])).toMatchObject([
      { kind: 'REFUSED', reason: 'too_late' },
    ]);
    expect(await own.orderEvents([orderId(3)])).toEqual([]);
  });
});

describe('trades', () => {
  const trade = async (
    index: number,
    parts: { taker: number; maker: number; market?: number },
  ): Promise<void> => {
    const { taker, maker, market = 1 } = parts;
    const place = {
      partition: 3,
      in_offset: String(100 + index),
      event_index: index,
      time: at(day + index + 0.471),
    };
    await database.fill(tables.fills, [
      {
        ...place,
        market,
        match: 'MINT',
        size: '2.5',
        taker_order: orderId(index),
        taker: wallet(taker),
        taker_key: apiKey(taker),
        taker_outcome: 0,
        taker_side: 'BUY',
        taker_price: '0.52',
        taker_builder: zero,
        maker_order: orderId(1000 + index),
        maker: wallet(maker),
        maker_key: apiKey(maker),
        maker_outcome: 1,
        maker_side: 'BUY',
        maker_price: '0.48',
        maker_builder: zero,
        fee: '0.01',
        fee_rate_bps: 441,
      },
    ]);
    const leg = { ...place, market, side: 'BUY', price: '0.52', size: '2.5', fee: '0' };
    await database.fill(tables.walletFills, [
      {
        ...leg,
        wallet: wallet(taker),
        role: 'TAKER',
        outcome: 0,
        order_id: orderId(index),
        api_key: apiKey(taker),
      },
      {
        ...leg,
        wallet: wallet(maker),
        role: 'MAKER',
        outcome: 1,
        order_id: orderId(1000 + index),
        api_key: apiKey(maker),
      },
    ]);
  };
  beforeAll(async () => {
    await trade(1, { taker: 1, maker: 2 });
    await trade(2, { taker: 2, maker: 1, market: 2 });
    await trade(3, { taker: 1, maker: 3 });
    await trade(4, { taker: 2, maker: 3 });
    // Written twice, as after a rebuild that overlaps.
    await trade(3, { taker: 1, maker: 3 });
  });
  const found = async (query: Partial<TradesQuery>, changes: object = {}) => {
    const search = {
      wallets: new Set([wallet(1)]),
      keys: new Set([apiKey(1)]),
      market: null,
      outcome: null,
      after: null,
      limit: 10,
      ...changes,
    };
    const { rows } = await own.trades({ ...search, query: { ...anyTrade, ...query } });
    return rows.map((row) => row.eventIndex);
  };
  /** The place of a trade, for the page behind it. */
  const behind = (index: number) => ({
    after: {
      timeMs: (day + index) * 1000 + 471,
      partition: 3,
      inOffset: String(100 + index),
      eventIndex: index,
    },
  });

  it('are those of the wallet, newest first, once each', async () => {
    expect(await found({})).toEqual([3, 2, 1]);
    const { rows } = await own.trades({
      wallets: new Set([wallet(1)]),
      keys: new Set([apiKey(1)]),
      market: null,
      outcome: null,
      after: null,
      limit: 1,
      query: anyTrade,
    });
    expect(rows[0]).toEqual({
      partition: 3,
      inOffset: '103',
      eventIndex: 3,
      timeMs: (day + 3) * 1000 + 471,
      market: 1,
      sizeMicro: 2_500_000,
      takerOrder: orderId(3),
      taker: wallet(1),
      takerKey: apiKey(1),
      takerOutcome: 0,
      takerSide: 'BUY',
      takerPrice: 5200,
      makerOrder: orderId(1003),
      maker: wallet(3),
      makerKey: apiKey(3),
      makerOutcome: 1,
      makerSide: 'BUY',
      makerPrice: 4800,
      feeRateBps: 441,
    });
  });

  it('are shown to a key of theirs only', async () => {
    expect(await found({}, { wallets: new Set([wallet(3)]) })).toEqual([]);
    expect(await found({}, { keys: new Set() })).toEqual([]);
  });

  it('come from all wallets requested for, each trade once', async () => {
    const both = {
      wallets: new Set([wallet(1), wallet(3)]),
      keys: new Set([apiKey(1), apiKey(3)]),
    };
    expect(await found({}, both)).toEqual([4, 3, 2, 1]);
    expect(await found({ taker: wallet(1) }, both)).toEqual([3, 1]);
    expect(await found({}, { ...both, ...behind(4), limit: 2 })).toEqual([3, 2]);
    expect(await found({}, { ...both, wallets: new Set([wallet(3)]) })).toEqual([4, 3]);
  });

  it('obey every filter and page', async () => {
    expect(await found({ place: { partition: 3, inOffset: '102', eventIndex: 2 } })).toEqual([2]);
    expect(await found({ place: { partition: 3, inOffset: '104', eventIndex: 4 } })).toEqual([]);
    expect(await found({}, { market: 2 })).toEqual([2]);
    expect(await found({}, { market: 1, outcome: 1 })).toEqual([]);
    expect(await found({ beforeS: day + 3, afterS: day + 1 })).toEqual([2]);
    expect(await found({ taker: wallet(1) })).toEqual([3, 1]);
    expect(await found({ maker: wallet(1) })).toEqual([2]);
    expect(await found({ maker: wallet(3) })).toEqual([3]);
    expect(await found({ taker: wallet(2) }, behind(2))).toEqual([]);
    expect(await found({}, { ...behind(3), limit: 1 })).toEqual([2]);
  });
});
