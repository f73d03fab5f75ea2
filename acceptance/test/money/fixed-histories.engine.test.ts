import { fixedHistories } from './fixed-histories.ts';
import { BrokenMoney } from './plain-ledger.ts';
import { redisOfTests, withExchange } from './run-histories.ts';

// random-histories.engine.test.ts finds new ones.
const redis = redisOfTests();

test.each(fixedHistories)('$title', async ({ ingresses, run }) => {
  await withExchange(redis(), { ingresses }, run);
});

test('the judge itself refuses money of nothing', async () => {
  await withExchange(redis(), {}, async ({ judge }) => {
    const wallet = Buffer.alloc(20, 9);
    const moved = { kind: 'MoneyMoved', wallet, freeMicro: 5, heldMicro: 0 } as const;
    const execution = { chain: wallet, keyId: wallet, sequence: 0, timeMs: 0, inOffset: 1 };
    expect(() => judge.execution({ ...execution, events: [moved] }, 0)).toThrow(BrokenMoney);
  });
});
