import type { WalletAddress } from '@pm/schemas/ids';
import { LedgerFunds } from '../../src/accounts/ledger-funds.io.ts';

const [poor, rich] = ['0xa', '0xb'] as WalletAddress[] as [WalletAddress, WalletAddress];

/** A ledger that answers when the test lets it, and a clock that the test moves. */
class Ledger {
  nowMs = 0;
  readonly trading = new Set<string>();
  readonly questions: { wallet: WalletAddress; answer(has: boolean | Error): void }[] = [];
  readonly funds = new LedgerFunds({
    trading: this.trading,
    clock: { monotonicMs: () => this.nowMs },
    entryQuota: {
      hasMoney: (wallet) =>
        new Promise((resolve, reject) => {
          const answer = (has: boolean | Error) => {
            if (typeof has === 'boolean') resolve(has);
            else reject(has);
          };
          this.questions.push({ wallet, answer });
        }),
    },
  });

  answerAll(has: boolean | Error): void {
    for (const { answer } of this.questions.splice(0)) answer(has);
  }
}

test('the first requests of a wallet wait for one answer of the ledger', async () => {
  const ledger = new Ledger();
  const waiting = [ledger.funds.isFunded(poor), ledger.funds.isFunded(poor)];
  expect(ledger.questions).toHaveLength(1);
  expect(ledger.funds.isKnownUnfunded(poor)).toBe(false);
  ledger.answerAll(false);
  expect(await Promise.all(waiting)).toEqual([false, false]);
  expect([ledger.funds.isFunded(poor), ledger.funds.isKnownUnfunded(poor)]).toEqual([false, true]);
  expect(ledger.questions).toHaveLength(0);
});

test('a deposit is known 5 seconds later, and no request waits for that', async () => {
  const ledger = new Ledger();
  const first = ledger.funds.isFunded(poor);
  ledger.answerAll(false);
  await first;
  ledger.nowMs = 4_999;
  expect([ledger.funds.isFunded(poor), ledger.questions.length]).toEqual([false, 0]);
  ledger.nowMs = 5_000;
  expect([ledger.funds.isFunded(poor), ledger.funds.isFunded(poor)]).toEqual([false, false]);
  expect(ledger.questions).toHaveLength(1);
  ledger.answerAll(true);
  await new Promise(setImmediate);
  expect([ledger.funds.isFunded(poor), ledger.funds.isKnownUnfunded(poor)]).toEqual([true, false]);
});

test('a wallet that trades is not asked for, whatever the ledger said before', async () => {
  const ledger = new Ledger();
  const first = ledger.funds.isFunded(poor);
  ledger.answerAll(false);
  await first;
  ledger.trading.add(poor);
  ledger.nowMs = 60_000;
  expect([ledger.funds.isFunded(poor), ledger.funds.isKnownUnfunded(poor)]).toEqual([true, false]);
  expect(ledger.questions).toHaveLength(0);
});

test('while the ledger does not answer no wallet counts as one without money', async () => {
  const ledger = new Ledger();
  const asked = [ledger.funds.isFunded(poor), ledger.funds.isFunded(rich)];
  ledger.answerAll(new Error('away'));
  expect(await Promise.all(asked)).toEqual([true, true]);
  expect(ledger.funds.isKnownUnfunded(poor)).toBe(false);
});
