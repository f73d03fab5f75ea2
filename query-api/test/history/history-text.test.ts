import { historyPoints, noPrices } from '../../src/history/history.ts';
import { HistoryTexts } from '../../src/history/history-text.ts';

test('a history is written once for each range and token of the same prices', () => {
  const texts = new HistoryTexts();
  const facts = { ...noPrices, midpointBefore: 520_000 };
  const plans = [
    { fromS: 600, toS: 1_200, stepS: 300 },
    { fromS: 600, toS: 1_500, stepS: 300 },
    { fromS: 600, toS: 1_200, stepS: 60 },
  ];
  for (const plan of [...plans, ...plans])
    for (const outcome of [0, 1] as const)
      for (const prices of [facts, noPrices])
        expect(texts.of(plan, prices, outcome)).toBe(
          JSON.stringify(historyPoints(plan, prices, outcome)),
        );
});
