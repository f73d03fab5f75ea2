import { Catalog } from '../../src/core/catalog.ts';
import { foldOrder, type OrderEventRow, orderAnswer } from '../../src/core/order-read.ts';
import { apiKey, condition, marketEntry, token, wallet } from '../in-memory.ts';

const event = (changes: Partial<OrderEventRow> = {}): OrderEventRow => ({
  partition: 3,
  inOffset: '77',
  eventIndex: 0,
  kind: 'PLACED',
  wallet: wallet(1),
  apiKey: apiKey(1),
  market: 1,
  outcome: 1,
  side: 'BUY',
  timeInForce: 'GTC',
  price: 5200,
  sizeMicro: 10_000_000,
  expiresAtMs: 0,
  acceptedAtMs: Date.UTC(2026, 5, 1, 12),
  status: 'LIVE',
  reason: '',
  ...changes,
});
const filled = (sizeMicro: number, eventIndex = 1) =>
  event({ kind: 'FILLED', sizeMicro, eventIndex, status: 'NONE' });
const canceled = event({ kind: 'CANCELED', eventIndex: 9, reason: 'USER' });

describe('the history of an order', () => {
  it.each<[string, OrderEventRow[], string, string]>([
    ['rests', [event()], 'LIVE', '0'],
    ['rests after a part was filled', [event(), filled(4_000_000)], 'LIVE', '4'],
    [
      'is matched by its fills',
      [event(), filled(4_000_000), filled(6_000_000, 2)],
      'MATCHED',
      '10',
    ],
    ['is matched as placed', [event({ status: 'MATCHED' }), filled(9_990_000)], 'MATCHED', '9.99'],
    ['was canceled', [event(), filled(1_000_000), canceled], 'CANCELED', '1'],
    [
      'was cut off at placement',
      [event({ status: 'CANCELED' }), filled(1_000_000)],
      'CANCELED',
      '1',
    ],
    ['is held back', [event({ status: 'DELAYED' })], 'DELAYED', '0'],
  ])('%s', (_title, rows, status, matched) => {
    const history = foldOrder(rows);
    if (history.kind !== 'placed') throw new Error('placed');
    const catalog = new Catalog();
    catalog.apply(marketEntry(1));
    const answer = orderAnswer(catalog, history, { id: '0x1', isOwner: true });
    expect(answer).toMatchObject({
      status,
      size_matched: matched,
      order: { status: status.toLowerCase(), sizeMatched: matched },
    });
  });

  it('tells a refusal only when the order was never placed', () => {
    const refused = event({ kind: 'REFUSED', reason: 'fok_not_filled' });
    expect(foldOrder([refused])).toEqual({ kind: 'refused', code: 'fok_not_filled' });
    expect(foldOrder([event(), refused]).kind).toBe('placed');
    expect(foldOrder([])).toEqual({ kind: 'unknown' });
  });

  it('answers in both shapes, with the expiration its owner stated', () => {
    const rows = [
      event({ timeInForce: 'GTD', expiresAtMs: 1_782_753_297_000 }),
      filled(4_000_000, 2),
    ];
    const history = foldOrder(rows);
    if (history.kind !== 'placed') throw new Error('placed');
    const catalog = new Catalog();
    catalog.apply(marketEntry(1));
    const shared = {
      id: '0xff',
      price: '0.52',
      side: 'BUY',
      outcome: 'No',
      expiration: '1782753357',
      order_type: 'GTD',
    };
    const address = '0x0000000000000000000000000000000000000001';
    expect(orderAnswer(catalog, history, { id: '0xff', isOwner: false })).toEqual({
      order: {
        ...shared,
        owner: null,
        associateTrades: ['3-77-2'],
        status: 'live',
        market: condition(1),
        originalSize: '10',
        makerAddress: address,
        sizeMatched: '4',
        assetId: token(1, 1),
        createdAt: '2026-06-01T12:00:00.000Z',
      },
      ...shared,
      owner: null,
      status: 'LIVE',
      maker_address: address,
      market: condition(1),
      asset_id: token(1, 1),
      original_size: '10',
      size_matched: '4',
      associate_trades: ['3-77-2'],
      created_at: 1_780_315_200,
    });
  });
});
