import { Catalog } from '@pm/domain/markets/catalog';
import { foldOrder, type OrderEventRow, orderAnswer } from '@pm/domain/orders/order-read';
import { apiKey, condition, marketEntry, nowMs, token, World } from '../in-memory.ts';
import { orderId, orderRow } from '../order-rows.ts';

const event = (changes: Parameters<typeof orderRow>[0] = {}) =>
  orderRow({ outcome: 1, ...changes });
const filled = (sizeMicro: number, eventIndex = 1) =>
  event({ kind: 'FILLED', sizeMicro, eventIndex });
const delayed = event({ kind: 'DELAYED', status: 'DELAYED' });
const canceled = event({ kind: 'CANCELED', eventIndex: 9, reason: 'USER' });

describe('the history of an order', () => {
  it.each<[string, OrderEventRow[], string, string, string | null]>([
    ['rests', [event()], 'LIVE', '0', null],
    ['rests after a part was filled', [event(), filled(4_000_000)], 'LIVE', '4', null],
    [
      'is matched by its fills',
      [event(), filled(4_000_000), filled(6_000_000, 2)],
      'MATCHED',
      '10',
      'matched',
    ],
    [
      'is matched as placed',
      [event({ status: 'MATCHED' }), filled(9_990_000)],
      'MATCHED',
      '9.99',
      'matched',
    ],
    ['was canceled', [event(), filled(1_000_000), canceled], 'CANCELED', '1', 'user'],
    [
      'lost the rest that may not rest',
      [event({ status: 'CANCELED', timeInForce: 'FAK' }), filled(1_000_000)],
      'CANCELED',
      '1',
      'remainder',
    ],
    [
      'spent a part of its budget on more than its size',
      [event({ status: 'CANCELED', timeInForce: 'FAK' }), filled(11_000_000)],
      'CANCELED',
      '11',
      'remainder',
    ],
    ['met an own order', [event({ status: 'CANCELED' })], 'CANCELED', '0', 'self_trade'],
    ['is held back', [delayed], 'DELAYED', '0', null],
    ['was held back and then placed', [delayed, event({ inOffset: '90' })], 'LIVE', '0', null],
    [
      'was held back and then refused',
      [event({ kind: 'REFUSED', inOffset: '100', reason: 'fok_not_filled' }), delayed],
      'CANCELED',
      '0',
      'fok_not_filled',
    ],
    [
      'was refused for a reason that passes and then held back',
      [event({ kind: 'REFUSED', inOffset: '9', reason: 'post_only_mode' }), delayed],
      'DELAYED',
      '0',
      null,
    ],
  ])('%s', (_title, rows, status, matched, reason) => {
    const history = foldOrder(rows);
    if (history.kind !== 'accepted') throw new Error('accepted');
    const catalog = new Catalog();
    catalog.apply(marketEntry(1));
    const answer = orderAnswer(catalog, history, true);
    expect(answer).toMatchObject({
      status,
      reason,
      ended_at: reason === null ? null : '2026-06-01T12:00:00.000Z',
      size_matched: matched,
      order: { status: status.toLowerCase(), sizeMatched: matched, reason },
    });
    expect(foldOrder(rows.toReversed())).toEqual(history);
  });

  it('has a code only where it was held back and then refused', () => {
    const codeOf = (...rows: OrderEventRow[]) => {
      const history = foldOrder(rows);
      return history.kind === 'accepted' ? history.facts.code : history.kind;
    };
    const refused = event({ kind: 'REFUSED', inOffset: '100', reason: 'self_trade' });
    expect(codeOf(delayed, refused)).toBe('self_trade');
    expect(codeOf(delayed)).toBeNull();
    expect(codeOf(event({ status: 'CANCELED' }))).toBeNull();
    expect(codeOf(event(), event({ kind: 'CANCELED', reason: 'SELF_TRADE' }))).toBeNull();
  });

  it('is a refusal only when the order was never placed', () => {
    const refused = event({ kind: 'REFUSED', reason: 'fok_not_filled' });
    expect(foldOrder([refused])).toEqual({ kind: 'refused', code: 'fok_not_filled' });
    expect(foldOrder([event(), refused]).kind).toBe('accepted');
    expect(foldOrder([])).toEqual({ kind: 'unknown' });
  });

  it('keeps its end when a copy of it is refused later', () => {
    const late = (inOffset: string) =>
      event({ kind: 'REFUSED', inOffset, reason: 'too_late', timeMs: nowMs + 5 });
    const stale = event({ kind: 'REFUSED', inOffset: '200', reason: 'stale_order' });
    const short = event({
      kind: 'REFUSED',
      inOffset: '70',
      reason: 'insufficient_balance_or_allowance',
    });
    for (const rows of [
      [late('100'), stale],
      [short, late('100')],
      [short, late('100'), stale],
    ])
      for (const shown of [rows, rows.toReversed()])
        expect(foldOrder(shown)).toEqual({ kind: 'refused', code: 'too_late' });
    // None is for good: the newest says what holds now.
    expect(foldOrder([stale, short])).toEqual({ kind: 'refused', code: 'stale_order' });
    for (const rows of [
      [delayed, late('100'), stale],
      [stale, late('100'), delayed],
    ]) {
      const history = foldOrder(rows);
      const ended = { status: 'CANCELED', reason: 'too_late', code: 'too_late' };
      expect(history).toMatchObject({ facts: { ...ended, endedAtMs: nowMs + 5 } });
    }
    // The first refusal after a delay is its end, also one that is not final.
    const atEnd = event({ kind: 'REFUSED', inOffset: '100', reason: 'condition_paused' });
    const history = foldOrder([delayed, stale, atEnd]);
    expect(history).toMatchObject({ facts: { code: 'condition_paused' } });
  });

  it('answers in both shapes, with the expiration its owner stated', () => {
    const rows = [
      event({ timeInForce: 'GTD', expiresAtMs: 1_782_753_297_000 }),
      filled(4_000_000, 2),
    ];
    const history = foldOrder(rows);
    if (history.kind !== 'accepted') throw new Error('accepted');
    const catalog = new Catalog();
    catalog.apply(marketEntry(1));
    const shared = {
      id: orderId,
      reason: null,
      code: null,
      ended_at: null,
      price: '0.52',
      side: 'BUY',
      outcome: 'No',
      expiration: '1782753357',
      order_type: 'GTD',
    };
    const address = '0x0000000000000000000000000000000000000001';
    expect(orderAnswer(catalog, history, true)).toEqual({
      order: {
        ...shared,
        owner: apiKey(1),
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
      owner: apiKey(1),
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

  it('never ends before it was created, whatever clock accepted it', () => {
    const acceptedAtMs = nowMs + 5_000;
    const placed = orderRow({ acceptedAtMs, timeMs: nowMs });
    const canceled = orderRow({
      kind: 'CANCELED',
      inOffset: '78',
      timeMs: nowMs + 1,
      reason: 'CANCEL',
    });
    const history = foldOrder([placed, canceled]);
    if (history.kind !== 'accepted') throw new Error(history.kind);
    expect(orderAnswer(new World().catalog, history, true)).toMatchObject({
      created_at: nowMs / 1000,
      ended_at: new Date(nowMs + 1).toISOString(),
      order: {
        createdAt: new Date(nowMs).toISOString(),
        ended_at: new Date(nowMs + 1).toISOString(),
      },
    });
  });
});
