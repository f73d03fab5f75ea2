import { ImportCatalog } from '@pm/schemas/http/operator';
import { Value } from 'typebox/value';
import { playShortMarket, playShortMarkets } from '../../src/demo/short-market-loop.ts';
import {
  isHeads,
  pauseAfterMs,
  shortMarketEvent,
  shortMarketSteps,
  shortMarketsMax,
  shortMarketTicks,
} from '../../src/demo/short-markets.ts';
import { StackError } from '../../src/local/stack-error.ts';

const baseUrl = 'http://127.0.0.1:8080';

/** An exchange that notes what is done to it, in order. */
function recorded(how: { readonly closed: number; readonly redemptionsRefused?: number }) {
  const done: string[] = [];
  const closed = new Set(Array.from({ length: how.closed }, (_, at) => `demo-coin-toss-${at + 1}`));
  let refusals = how.redemptionsRefused ?? 0;
  const account = (name: string) => ({
    cancelMarket: async () => void done.push('cancel'),
    place: async () => {
      done.push(name === 'maker' ? 'ladder' : 'trade');
      return [];
    },
    redeem: async () => {
      refusals -= 1;
      if (refusals < 0) done.push(`redeem ${name}`);
      return refusals < 0;
    },
  });
  let last = '';
  const parts = {
    operator: {
      importNewEvents: async (events: readonly { readonly slug: string }[]) => {
        last = events[0]?.slug ?? '';
        done.push(`list ${last}`);
        const market = { slug: 'one', id: '7', conditionId: '0x1', tokenIds: ['1', '2'] };
        return { created: 1, unchanged: 0, updated: 0, markets: [{ ...market, partition: 0 }] };
      },
      resolveMarket: async (id: string, payout0: string) => {
        done.push(`resolve ${id} ${payout0}`);
        closed.add(last);
      },
    },
    maker: account('maker'),
    takers: [account('one'), account('two')],
    baseUrl,
    isClosed: async (slug: string) => closed.has(slug),
    wait: async () => true,
  };
  return { done, parts };
}

test('a market is listed, traded, resolved as it falls, and redeemed by everybody who traded', async () => {
  const { done, parts } = recorded({ closed: 0, redemptionsRefused: 2 });
  expect(await playShortMarket(1, parts)).toBe(true);
  expect(done[0]).toBe('list demo-coin-toss-1');
  expect(done.filter((one) => one === 'trade')).toHaveLength(shortMarketSteps);
  expect(done.slice(-4)).toEqual([
    `resolve 7 ${isHeads(1) ? '1' : '0'}`,
    'redeem maker',
    'redeem one',
    'redeem two',
  ]);
});

test('it goes on after those of earlier runs, and ends at the limit', async () => {
  const { done, parts } = recorded({ closed: shortMarketsMax - 2 });
  await playShortMarkets(parts);
  expect(done.filter((one) => one.startsWith('list'))).toEqual([
    `list demo-coin-toss-${shortMarketsMax - 1}`,
    `list demo-coin-toss-${shortMarketsMax}`,
  ]);
});

test('a refusal of the operator is no end', async () => {
  const { done, parts } = recorded({ closed: shortMarketsMax - 1 });
  const { importNewEvents } = parts.operator;
  let refusals = 1;
  parts.operator.importNewEvents = async (events) => {
    refusals -= 1;
    if (refusals >= 0) throw new StackError('START_FAILED', 'refused');
    return await importNewEvents(events);
  };
  await playShortMarkets(parts);
  expect(done.filter((one) => one.startsWith('resolve'))).toHaveLength(1);
});

test('their events are valid imports, and their prices stay on the grid and end near the result', () => {
  for (let number = 1; number <= shortMarketsMax; number += 1) {
    const events = [shortMarketEvent(number, baseUrl, new Date(1_780_000_000_000))];
    expect([...Value.Errors(ImportCatalog, { events })]).toEqual([]);
    for (let step = 0; step < shortMarketSteps; step += 1) {
      const ticks = shortMarketTicks(number, step);
      expect(ticks > 10 && ticks < 990).toBe(true);
    }
    const last = shortMarketTicks(number, shortMarketSteps - 1);
    expect(isHeads(number) ? last > 900 : last < 100).toBe(true);
  }
});

test('both results come, and the catalog grows by some in the first hour, then by one an hour', () => {
  const heads = Array.from({ length: 100 }, (_, at) => isHeads(at + 1)).filter(Boolean).length;
  expect(heads > 30 && heads < 70).toBe(true);
  expect(pauseAfterMs(1)).toBeLessThan(5 * 60_000);
  expect(pauseAfterMs(12)).toBe(3_600_000);
});
