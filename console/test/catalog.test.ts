import { eventOfWire, labelsOf, pictureOf, type WireMarket } from '../src/market/catalog.ts';

const origin = 'http://127.0.0.1:8080';

test('the label of a market is what its question says that others do not', () => {
  const questions = [
    'Will the Fed decrease interest rates by 25 bps after the meeting?',
    'Will the Fed decrease interest rates by 50+ bps after the meeting?',
  ];
  expect(labelsOf(questions)).toEqual(['25', '50+']);
  expect(labelsOf(['Only one?'])).toEqual(['Only one?']);
  expect(labelsOf(['Turnout: low', 'Turnout: high'])).toEqual(['Low', 'High']);
  expect(labelsOf(['Same?', 'Same?'])).toEqual(['Same', 'Same']);
});

test('a picture comes from this exchange or over https, and from nowhere else', () => {
  expect(pictureOf('http://localhost:8080/demo/pictures/a.svg', origin)).toBe(
    '/demo/pictures/a.svg',
  );
  expect(pictureOf('https://example.org/a.png', origin)).toBe('https://example.org/a.png');
  for (const image of ['http://example.org/a.png', 'javascript:alert(1)', 'data:image/png,x']) {
    expect(pictureOf(image, origin)).toBeNull();
  }
});

test('an event lists its markets by volume, and leaves out those without two tokens', () => {
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
  const markets = [market('a', 1), market('b', 9), market('c', 5, 'not json')];
  const event = eventOfWire({ id: '1', slug: 's', title: 'T', markets }, origin);
  expect(event.markets.map(({ conditionId, label, price }) => [conditionId, label, price])).toEqual(
    [
      ['0xb', 'B', 0.25],
      ['0xa', 'A', 0.25],
    ],
  );
});
