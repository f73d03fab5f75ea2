import type { AskedAction, SignedContent } from './requests.ts';
import { type SimulatedExchange, walletOf } from './simulated-exchange.ts';
import type { History } from './steps.ts';

interface FixedHistory {
  readonly title: string;
  readonly ingresses: number;
  run(exchange: SimulatedExchange, history: History): Promise<void>;
}

const usdc = 1_000_000;

const action = (asked: Partial<AskedAction>): AskedAction => ({
  action: 'split',
  wallet: 0,
  market: 1,
  amountMicro: 10_000,
  id: 'one',
  ...asked,
});

const order = (content: Partial<SignedContent> = {}): SignedContent => ({
  number: 1,
  wallet: 0,
  market: 1,
  outcome: 0,
  side: 'BUY',
  timeInForce: 'GTC',
  price: 5_000,
  lots: 100_000,
  signedAtMs: 1_700_000_000_000,
  ...content,
});

/** Histories that made money in earlier versions, or would with a rule less, step by step. */
export const fixedHistories: readonly FixedHistory[] = [
  {
    title: 'an order on the book, sent again to a process that has not read its result',
    ingresses: 2,
    async run(exchange, history) {
      const { calls, log } = exchange;
      const buy = order({ lots: 190_000, signedAtMs: exchange.nowMs + 297_000 });
      history.requests.place(0, [buy], { key: 0, stale: false });
      await calls.resumeNamed('reserve');
      await calls.resumeNamed('send');
      log.match(0, 10);
      await exchange.projector(0).fold(0, 10);
      history.requests.place(1, [buy], { key: 0, stale: false });
      await history.finish();
    },
  },
  {
    title: 'an order on the book of a market that is resolved by now, sent again',
    ingresses: 2,
    async run(exchange, history) {
      const { calls, log } = exchange;
      const buy = order({ lots: 1_000, signedAtMs: exchange.nowMs + 297_000 });
      history.requests.place(0, [buy], { key: 0, stale: false });
      await calls.resumeNamed('reserve');
      await calls.resumeNamed('send');
      log.match(0, 10);
      await exchange.projector(0).fold(0, 10);
      exchange.resolve(1, 10_000);
      history.requests.place(1, [buy], { key: 0, stale: false });
      await history.finish();
    },
  },
  {
    title: 'a split that took all the money, sent again after the memory of requests was lost',
    ingresses: 2,
    async run(exchange, history) {
      const all = action({ amountMicro: 1_000 * usdc });
      history.requests.act(0, all, 0);
      await exchange.settle();
      expect(exchange.judge.balance(walletOf(0)).free).toBe(0);
      exchange.forgetRetries();
      history.requests.act(1, all, 0);
      await history.finish();
      expect(exchange.judge.balance(walletOf(0)).free).toBe(0);
    },
  },
  {
    title: 'orders that wait at the gateway, and a cancel-all that is answered before them',
    ingresses: 2,
    async run(exchange, history) {
      const { calls } = exchange;
      history.requests.place(0, [order()], { key: 0, stale: false, waits: true });
      await exchange.tick(20);
      history.requests.cancelAll(0, 0, 1);
      await calls.resumeNamed('send');
      exchange.log.match(0, 10);
      await exchange.tick(20);
      await calls.resumeNamed('turn');
      await history.finish();
      expect(exchange.judge.balance(walletOf(0)).held).toBe(0);
    },
  },
  {
    title: 'two keys of one wallet split under one id in two partitions at once',
    ingresses: 2,
    async run(exchange, history) {
      const { calls, judge } = exchange;
      const large = action({ market: 3, amountMicro: 1_000_000 * usdc });
      history.requests.act(0, action({}), 0);
      await calls.resumeNamed('reserve');
      exchange.forgetRetries();
      history.requests.act(1, large, 1);
      // Both hold before either is sent: the interleaving that once took a million out of a hundredth.
      await calls.resumeNamed('reserve');
      await history.finish();
      expect(judge.balance(walletOf(0)).free).toBe(1_000 * usdc - 10_000);
    },
  },
  {
    title:
      'two withdrawals under one id with two amounts, also when the memory of requests is lost between',
    ingresses: 2,
    async run(exchange, history) {
      const small = action({ action: 'withdrawal', amountMicro: 10 * usdc });
      history.requests.act(0, small, 0);
      await exchange.calls.resumeNamed('reserveWithdrawal');
      exchange.forgetRetries();
      history.requests.act(1, { ...small, amountMicro: 400 * usdc }, 1);
      await history.finish();
      const paid = 1_000 * usdc - exchange.judge.balance(walletOf(0)).free;
      expect([10 * usdc, 410 * usdc]).toContain(paid);
    },
  },
  {
    title: 'a reservation that one process gives back while another sends under it',
    ingresses: 2,
    async run(exchange, history) {
      const { calls, ledger } = exchange;
      const [first, second] = [exchange.ingress(0), exchange.ingress(1)];
      history.requests.place(0, [order()], { key: 0, stale: false });
      history.requests.place(1, [order()], { key: 1, stale: false });
      await calls.resumeNamed('reserve', 'done', first);
      await calls.resumeNamed('reserve', 'done', second);
      await calls.resumeNamed('send', 'lost', first);
      await calls.resumeNamed('cancelSend', 'done', first);
      // The order of the second process is still on its way: its money is not free.
      expect((await ledger.balance(walletOf(0))).pendingMicro).toBeGreaterThanOrEqual(500 * usdc);
      const all = action({ action: 'withdrawal', amountMicro: 1_000 * usdc });
      history.requests.act(0, all, 0);
      await calls.resumeNamed('reserveWithdrawal', 'done', first);
      await history.finish();
      expect(exchange.judge.balance(walletOf(0)).held).toBe(500 * usdc);
    },
  },
  {
    title: 'one captured withdrawal, sent four times to all processes, each with a lost answer',
    ingresses: 3,
    async run(exchange, history) {
      const five = action({ action: 'withdrawal', amountMicro: 5 * usdc });
      for (let times = 0; times < 4; times += 1) {
        history.requests.act(times, five, 0);
        await exchange.calls.resumeNamed('reserveWithdrawal');
        await exchange.calls.resumeNamed('transfer', 'unanswered');
        exchange.forgetRetries();
      }
      await history.finish();
      expect(exchange.judge.balance(walletOf(0)).free).toBe(995 * usdc);
    },
  },
  {
    title: 'money reserved in the last second before Redis comes back from an earlier moment',
    ingresses: 2,
    async run(exchange, history) {
      const { calls } = exchange;
      await exchange.saveRedis();
      history.requests.place(0, [order({ lots: 190_000 })], { key: 0, stale: false });
      await calls.resumeNamed('reserve');
      await exchange.rewindRedis();
      history.requests.place(1, [order({ number: 2, lots: 190_000, market: 3 })], {
        key: 0,
        stale: false,
      });
      await calls.resumeNamed('reserve');
      await history.finish();
      expect(exchange.judge.balance(walletOf(0)).free).toBeGreaterThanOrEqual(0);
    },
  },
  {
    title: 'an order sent again after the fee was raised, while everything else is reserved',
    ingresses: 2,
    async run(exchange, history) {
      const { calls, ledger, judge } = exchange;
      history.requests.act(0, action({ wallet: 1, amountMicro: 900 * usdc }), 0);
      await exchange.settle();
      expect(judge.balance(walletOf(1)).free).toBe(100 * usdc);
      const sell = order({ number: 2, wallet: 1, side: 'SELL', lots: 90_000 });
      history.requests.place(0, [sell], { key: 0, stale: false });
      await exchange.settle();
      const buy = order({ lots: 90_000, signedAtMs: exchange.nowMs });
      history.requests.place(0, [buy], { key: 0, stale: false });
      await calls.resumeNamed('reserve');
      const { pendingMicro } = await ledger.balance(walletOf(0));
      const rest = action({ action: 'withdrawal', amountMicro: 1_000 * usdc - pendingMicro });
      history.requests.act(0, rest, 0);
      await calls.resumeNamed('reserveWithdrawal');
      exchange.list(1, 0, 200);
      history.requests.place(1, [buy], { key: 1, stale: false });
      await calls.resumeNamed('reserve');
      await history.finish();
      // The amount that was reserved first does not pay the fee, and the order that was sent second was not reserved.
      expect(judge.balance(walletOf(0))).toMatchObject({ free: pendingMicro, held: 0 });
    },
  },
  {
    title:
      'an order reserved before Redis lost everything, and sent after the ledger is open again',
    ingresses: 2,
    async run(exchange, history) {
      const { calls, judge } = exchange;
      history.requests.place(0, [order({ lots: 190_000 })], { key: 0, stale: false });
      await calls.resumeNamed('reserve');
      await exchange.loseRedis();
      await exchange.foldAgain();
      history.requests.act(1, action({ action: 'withdrawal', amountMicro: 900 * usdc }), 0);
      await calls.resumeNamed('reserveWithdrawal');
      await calls.resumeNamed('transfer');
      await history.finish();
      expect(judge.balance(walletOf(0))).toMatchObject({ free: 100 * usdc, held: 0 });
    },
  },
];
