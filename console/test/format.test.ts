import {
  ago,
  cents,
  percent,
  percents,
  shares,
  shortAddress,
  usd,
  usdShort,
} from '../src/format.ts';
import { placeOf } from '../src/place.ts';

test.each([
  [cents('0.525'), '52.5¢'],
  [cents('0.5'), '50¢'],
  [cents('0.0025'), '0.25¢'],
  [cents(''), '–'],
  [cents(null), '–'],
  [percent(0.004), '<1%'],
  [percent('0.996'), '>99%'],
  [percent(1), '100%'],
  [percent(0.525), '53%'],
  [shares('12345.5'), '12,345.5'],
  [usd(-3.456), '−$3.46'],
  [usd('x'), '–'],
  [usdShort(1_250), '$1.3k'],
  [usdShort(3_000_000), '$3m'],
  [ago(1_000, 1_500), 'now'],
  [ago(0, 61_000), '1 min'],
  [shortAddress(`0x${'1a'.repeat(20)}`), '0x1a1a…1a1a'],
])('%s is shown as %s', (shown, wanted) => {
  expect(shown).toBe(wanted);
});

test('the percentages of both outcomes add up to 100 at every price', () => {
  const sums = new Set<number>();
  for (let price = 0; price <= 10_000; price += 1) {
    const [first, second] = percents(price / 10_000);
    const isWhole = /^\d+%$/.test(first);
    if (isWhole) sums.add(Number.parseInt(first, 10) + Number.parseInt(second, 10));
    else expect([first, second].sort()).toEqual(['<1%', '>99%']);
  }
  expect([...sums]).toEqual([100]);
  expect(percents(0.985)).toEqual(['99%', '1%']);
  expect(percents(null)).toEqual(['–', '–']);
});

test('an address names a page, and any other the markets', () => {
  expect(placeOf('#/event/fed%20rate/0xab')).toEqual({
    page: 'event',
    slug: 'fed rate',
    condition: '0xab',
  });
  expect(placeOf('#/pipeline').page).toBe('pipeline');
  for (const hash of ['', '#/', '#/event/', '#/nowhere', '#/event/%E0%A4']) {
    expect(placeOf(hash).page).toBe('markets');
  }
});
