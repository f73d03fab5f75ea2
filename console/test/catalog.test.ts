import { eventOfWire, pictureOf, type WireMarket } from '../src/market/catalog.ts';

const origin = 'http://127.0.0.1:8080';

test('a picture comes from this exchange or over https, and from nowhere else', () => {
  expect(pictureOf('http://localhost:8080/demo/pictures/a.svg', origin)).toBe(
    '/demo/pictures/a.svg',
  );
  expect(pictureOf('https://example.org/a.png', origin)).toBe('https://example.org/a.png');
  for (const image of ['http://example.org/a.png', 'javascript:alert(1)', 'data:image/png,x']) {
    expect(pictureOf(image, origin)).toBeNull();
  }
});

test('an event lists its markets by volume under their short names, and leaves out those without two tokens', () => {
  const market = (id: string, volumeNum: number, clobTokenIds = '["1","2"]'): WireMarket => ({
    id,
    question: `Is it ${id}?`,
    conditionId: `0x${id}`,
    slug: id,
    clobTokenIds,
    outcomes: '["Yes","No"]',
    outcomePrices: '["0.25","0.75"]',
    volumeNum,
  });
  const short = { ...market('b', 9), groupItemTitle: 'June 30' };
  const markets = [market('a', 1), short, market('c', 5, 'not json')];
  const event = eventOfWire({ id: '1', slug: 's', title: 'T', markets }, origin);
  expect(event.markets.map(({ conditionId, label, price }) => [conditionId, label, price])).toEqual(
    [
      ['0xb', 'June 30', 0.25],
      ['0xa', 'Is it a?', 0.25],
    ],
  );
});
