import { marketRules, orderOf } from '../core/commands.ts';
import { topicNames } from './matcher-process.ts';
import { readOutputs } from './reading.ts';
import { Pair } from './replica-pair.ts';
import { keys, sealed } from './sealed-records.ts';

const hourMs = 3_600_000;
const lateOrdersFrom = 1_000_000;

/** Two replicas and an ingress with a right clock, whose orders are counted. */
class Exchange {
  readonly pair = new Pair(1, { earlier: 0 });
  /** Age of the first attempt that an order beside each of them names, milliseconds; 0 without such orders. */
  namedAgeMs = 0;
  #orders = 0;
  booked = 0;

  async open(): Promise<void> {
    this.pair.log.append(topicNames.orders, sealed(keys.operator, [marketRules(1)]));
    await this.pair.start();
  }

  /** So many milliseconds with an order in each quarter of a second. Gives how many were not booked. */
  async trade(ms: number): Promise<number> {
    const { pair } = this;
    const first = this.#orders;
    const from = pair.log.records(topicNames.orders).length;
    for (let left = ms; left > 0; left -= 250) {
      const times = { acceptedAtMs: pair.nowMs, signedAtMs: pair.nowMs };
      this.#orders += 1;
      pair.append(orderOf(this.#orders, this.#orders, { outcome: 1, ...times }));
      if (this.namedAgeMs > 0) pair.append(this.#lateOrder());
      await pair.pass(250, pair.one, pair.two);
    }
    const booked = readOutputs(pair.log)
      .executions.slice(from)
      .flatMap(({ events }) => events.filter(({ kind }) => kind === 'OrderPlaced'));
    return this.#orders - first - booked.length;
  }

  #lateOrder() {
    const acceptedAtMs = this.pair.nowMs - this.namedAgeMs;
    const id = lateOrdersFrom + this.#orders;
    return orderOf(id, id, { acceptedAtMs, signedAtMs: acceptedAtMs, ageLimitMs: 60_000 });
  }

  get claims(): number {
    return this.pair.commands().filter(({ kind }) => kind === 'ClaimPartition').length;
  }
}

describe('while the wall clock of its machine leaps, a partition', () => {
  test('takes no time from orders whose clients name that of a first attempt', async () => {
    const exchange = new Exchange();
    await exchange.open();
    expect(await exchange.trade(1_000)).toBe(0);
    exchange.namedAgeMs = 60_000;
    for (const { process } of [exchange.pair.one, exchange.pair.two]) process.wallAheadMs = -90_000;
    expect(await exchange.trade(5_000)).toBe(0);
  });

  test.each([
    ['the owner is set back by an hour', [-hourMs, 0]],
    ['the owner is set forth by an hour', [hourMs, 0]],
    ['the standby is set back by an hour', [0, -hourMs]],
    ['the standby is set forth by an hour', [0, hourMs]],
  ] as const)(
    'trades on with its owner when %s, and when it is right again',
    async (_, leaps) => {
      const exchange = new Exchange();
      await exchange.open();
      const { one, two } = exchange.pair;
      expect(await exchange.trade(1_000)).toBe(0);
      const claims = exchange.claims;
      // Longer than the time after which a preferred replica claims from a living owner.
      [one.process.wallAheadMs, two.process.wallAheadMs] = leaps;
      expect(await exchange.trade(11_000)).toBe(0);
      [one.process.wallAheadMs, two.process.wallAheadMs] = [0, 0];
      expect(await exchange.trade(2_000)).toBe(0);
      expect(exchange.claims).toBe(claims);
      expect(exchange.pair.roles()).toEqual(['owner 1', 'standby 1']);
    },
    120_000,
  );

  test('is taken over by a standby with a wrong wall clock, which books orders at once', async () => {
    for (const leapMs of [-hourMs, hourMs]) {
      const exchange = new Exchange();
      await exchange.open();
      const { pair } = exchange;
      pair.two.process.wallAheadMs = leapMs;
      expect(await exchange.trade(1_000)).toBe(0);
      await pair.one.process.owned.stop();
      await pair.pass(100, pair.two);
      expect(pair.two.status.role).toBe('owner');
      pair.pass = async (ms) => await Pair.prototype.pass.call(pair, ms, pair.two);
      expect(await exchange.trade(5_000)).toBe(0);
    }
  }, 240_000);
});
