import fc from 'fast-check';
import { storedMicro, storedPrice } from '../../src/reading/numbers.ts';

describe('stored numbers', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['1.5', 1_500_000],
    ['-212.48', -212_480_000],
    ['0.000001', 1],
    ['7', 7_000_000],
    ['1.1234567', 1_123_456],
  ])('reads %p as %p micro-units', (text, micro) => {
    expect(storedMicro(text)).toBe(micro);
  });

  it('reads prices in their own unit and throws at texts that are no decimals', () => {
    expect(storedPrice('0.52')).toBe(5200);
    for (const text of ['', 'NaN', '1e3', '0x1', '1.', '1,5'])
      expect(() => storedMicro(text)).toThrow();
  });

  it('reads every safe number of micro-units back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e14, max: 1e14 }), (micro) => {
        const magnitude = String(Math.abs(micro)).padStart(7, '0');
        const text = `${micro < 0 ? '-' : ''}${magnitude.slice(0, -6)}.${magnitude.slice(-6)}`;
        expect(storedMicro(text)).toBe(micro === 0 ? 0 : micro);
      }),
    );
  });
});
