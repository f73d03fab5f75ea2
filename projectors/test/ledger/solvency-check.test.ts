import type { MarketBreach } from '@pm/domain/ledger/ledger';
import { LedgerModel } from '@pm/domain/testing/ledger-model';
import { type Log, silentLog } from '@pm/kit/log';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { everyWallet, type WithdrawalFreeze } from '@pm/schemas/log/accounts';
import { SolvencyCheck } from '../../src/ledger/solvency-check.io.ts';

const wallet = `0x${'77'.repeat(20)}` as WalletAddress;
const clock = { clockMs: 1_000, bookAgeLimitMs: 2_000 };

/** A ledger that is open, in which the wallet has spent ten times what it had. */
function overspent(): LedgerModel {
  const ledger = new LedgerModel();
  const deposit = { transferId: '0x01', wallet, amountMicro: 100, generation: 0, timeMs: 1_000 };
  const fence = { ...deposit, transferId: '0x00', amountMicro: 0, generation: 1, timeMs: 1_000 };
  ledger.applyTransfers({ fromOffset: 0, toOffset: 2, transfers: [deposit, fence] });
  ledger.planRebuild({ id: 'first', generation: 1 });
  ledger.open({ id: 'first', generation: 1 }, []);
  const moves = [{ wallet, freeMicro: -1_000, heldMicro: 400 }];
  const span = { partition: 0, fromOffset: 0, toOffset: 1, generation: 0 };
  ledger.applyExecutions({ ...clock, ...span, answered: [], moves, markets: [] });
  return ledger;
}

function open(fold: LedgerModel) {
  const errors: object[] = [];
  const frozen: WithdrawalFreeze[] = [];
  const fakes = { isAway: false, breaches: 0 };
  const ledger = {
    balance: async (one: WalletAddress) => fold.balance(one),
    insolventWallets: async () => fold.insolventWallets(),
    acknowledgeInsolvent: async (one: WalletAddress) => fold.acknowledgeInsolvent(one),
    marketBreaches: async () => fold.marketBreaches(),
    acknowledgeBreach: async (one: MarketBreach) => fold.acknowledgeBreach(one),
  };
  const solvency = new SolvencyCheck({
    ledger,
    topic: 'withdrawal-freezes',
    codec: {
      encode(value) {
        frozen.push(value);
        return Buffer.alloc(0);
      },
    },
    producer: {
      async send(records) {
        if (fakes.isAway) throw new Error('the broker cannot be reached');
        return records.map(({ partition }, offset) => ({ partition, offset }));
      },
    },
    log: { ...silentLog, error: (facts: object) => void errors.push(facts) } as Log,
    nowMs: () => 5,
    onBreach: () => {
      fakes.breaches += 1;
    },
  });
  return { solvency, errors, frozen, fakes };
}

test('free money below zero is an error with the wallet, a count and a frozen wallet', async () => {
  const { solvency, errors, frozen, fakes } = open(overspent());
  await solvency.check();
  expect(errors).toMatchObject([{ wallet, freeMicro: -900, heldMicro: 400 }]);
  expect(fakes.breaches).toBe(1);
  const facts = { frozen: true, unsound: true, freeMicro: -900, changedAtMs: 5 };
  expect(frozen).toMatchObject([facts]);
  expect(walletFromBytes(frozen[0]?.wallet ?? Buffer.alloc(0))).toBe(wallet);
  await solvency.check();
  expect(frozen).toHaveLength(1);
});

test('a freeze that could not be written is written at the next check', async () => {
  const { solvency, errors, frozen, fakes } = open(overspent());
  fakes.isAway = true;
  await expect(solvency.check()).rejects.toThrow('the broker cannot be reached');
  fakes.isAway = false;
  await solvency.check();
  expect([frozen.length, errors.length, fakes.breaches]).toEqual([2, 1, 1]);
  await solvency.check();
  expect(frozen).toHaveLength(2);
});

test('no withdrawal is reserved until the freeze has been durable for a round', async () => {
  const fold = overspent();
  const { solvency, fakes } = open(fold);
  const withdrawal = { transferId: '0x07', wallet, amountMicro: 1, acceptedAtMs: 1 };
  fakes.isAway = true;
  await expect(solvency.check()).rejects.toThrow('the broker cannot be reached');
  expect(fold.reserveWithdrawal(withdrawal).outcome).toBe('frozen');
  fakes.isAway = false;
  await solvency.check();
  expect(fold.reserveWithdrawal(withdrawal).outcome).toBe('frozen');
  await solvency.check();
  expect(fold.insolventWallets()).toEqual([]);
});

test('a market that does not add up freezes every wallet and closes those of its records', async () => {
  const fold = new LedgerModel();
  const span = { partition: 0, fromOffset: 0, toOffset: 1, generation: 0 };
  const change = { market: '7', token0Micro: 5_000_000, token1Micro: 4_000_000, payout0: null };
  const markets = [{ ...change, lockedMicro: 4_000_000, suspects: [wallet] }];
  fold.applyExecutions({ ...clock, ...span, answered: [], moves: [], markets });
  const { solvency, errors, frozen, fakes } = open(fold);
  await solvency.check();
  expect(frozen.map((one) => walletFromBytes(one.wallet))).toEqual([everyWallet, wallet]);
  expect(frozen.every((one) => one.frozen && one.unsound)).toBe(true);
  expect(errors).toMatchObject([{ market: '7', gap0Micro: 1_000_000, place: '0:1' }]);
  await solvency.check();
  await solvency.check();
  expect([frozen.length, fakes.breaches]).toEqual([2, 1]);
});

test('a solvent ledger freezes no wallet', async () => {
  const { solvency, errors, frozen } = open(new LedgerModel());
  await solvency.check();
  expect([errors, frozen]).toEqual([[], []]);
});
