import { parseTradeId, tradeHash, tradeId } from '../src/trade-id.ts';

describe('the id of a trade', () => {
  it('names a place of the log and reads back exactly, up to the last one there can be', () => {
    const place = { partition: 65_535, inOffset: '9007199254740991', eventIndex: 4_294_967_295 };
    expect(tradeId(place)).toBe('65535-9007199254740991-4294967295');
    expect(parseTradeId('65535-9007199254740991-4294967295')).toEqual(place);
    expect(tradeId({ partition: 0, inOffset: 0, eventIndex: 0 })).toBe('0-0-0');
  });

  it.each([
    '',
    '1-2',
    '1-2-3-4',
    '01-2-3',
    '1-02-3',
    '-1-2-3',
    '1-2-x',
    '1.0-2-3',
    '1-12345678901234567-3',
    '65536-2-3',
    '65543-5573-0',
    '1-9007199254740992-3',
    '1-2-4294967296',
  ])('is not %p', (text) => {
    expect(parseTradeId(text)).toBeNull();
  });

  it('has the keccak-256 of its text as hash', () => {
    // Published vectors of keccak-256 for the empty text and "abc".
    expect(tradeHash('')).toBe(
      '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    );
    expect(tradeHash('abc')).toBe(
      '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
    );
    expect(tradeHash('3-77-4')).not.toBe(tradeHash('3-774-'));
  });
});
