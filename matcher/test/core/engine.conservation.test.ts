import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { holdMicro } from '@pm/schemas/money';
import { runLength } from '../../../kit/test/long-runs.ts';
import { defaultLimits, Engine } from '../../src/core/index.ts';
import { envelopeOf, lotMicro, marketRules, opening, orderOf, partition } from './commands.ts';
import { RandomLog, tightLimits } from './random-log.ts';

/** The changes of wallets and of collateral that the events of a record report. */
function balanceOf(events: readonly ExecutionEvent[]): { wallets: number; collateral: number } {
  let wallets = 0;
  let collateral = 0;
  for (const event of events) {
    if (event.kind === 'MoneyMoved') wallets += event.freeMicro + event.heldMicro;
    if (event.kind === 'PositionMoved') collateral -= event.paidMicro;
    if (event.kind === 'Fill' && event.match === 'MINT') collateral += event.sizeMicro;
    if (event.kind === 'Fill' && event.match === 'MERGE') collateral -= event.sizeMicro;
  }
  return { wallets, collateral };
}

/** Folds levels and tops as a reader of the log would. */
class BookReader {
  readonly levels = new Map<string, { market: number; side: string; price: number }>();
  readonly tops = new Map<number, string>();

  read(event: ExecutionEvent): void {
    if (event.kind === 'TopChanged') this.tops.set(event.market, `${event.bid}/${event.ask}`);
    if (event.kind !== 'LevelChanged') return;
    const key = `${event.market}/${event.side}/${event.price}`;
    if (event.sizeMicro === 0) this.levels.delete(key);
    else this.levels.set(key, event);
  }

  topOf(market: number): string {
    const prices = (side: string): number[] =>
      [...this.levels.values()]
        .filter((level) => level.market === market && level.side === side)
        .map(({ price }) => price);
    const asks = prices('SELL');
    return `${Math.max(0, ...prices('BUY'))}/${asks.length === 0 ? 0 : Math.min(...asks)}`;
  }
}

describe('the events of a record', () => {
  const records = runLength({ test: 300, deep: 2_000 });

  it('conserve money: wallets lose exactly what collateral gains', () => {
    for (const seed of [31, 32, 33]) {
      const engine = new Engine(partition, seed === 33 ? tightLimits : defaultLimits);
      engine.apply(envelopeOf([opening], 'OPERATOR'), 0);
      const log = new RandomLog(seed);
      for (let record = 1; record < records; record += 1) {
        const { events } = engine.apply(log.next().envelope, record);
        const { wallets, collateral } = balanceOf(events);
        if (wallets + collateral !== 0) expect({ seed, record, wallets, collateral }).toBeNull();
      }
      engine.assertInvariants();
    }
  });

  it('never make the held money of a wallet negative', () => {
    const engine = new Engine(partition);
    engine.apply(envelopeOf([opening], 'OPERATOR'), 0);
    const log = new RandomLog(34);
    const held = new Map<string, number>();
    for (let record = 1; record < 3_000; record += 1) {
      for (const event of engine.apply(log.next().envelope, record).events) {
        if (event.kind !== 'MoneyMoved') continue;
        const wallet = event.wallet.toString('hex');
        const now = (held.get(wallet) ?? 0) + event.heldMicro;
        if (now < 0) expect({ record, wallet, now }).toBeNull();
        held.set(wallet, now);
      }
    }
    expect(held.size).toBeGreaterThan(5);
  });

  it.each([3, 90])('list changed levels by market, side and price, %d of them', (count) => {
    const engine = new Engine(partition);
    engine.apply(envelopeOf([opening, marketRules(2), marketRules(1)], 'OPERATOR'), 0);
    const orders = Array.from({ length: count }, (_, index) => {
      const price = 100 * (1 + ((index * 37) % 49));
      return orderOf(index, 1, {
        price,
        outcome: index % 2,
        market: 1 + (index % 3 === 0 ? 0 : 1),
      });
    });
    const listed = engine
      .apply(envelopeOf(orders), 1)
      .events.filter((event) => event.kind === 'LevelChanged')
      .map(({ market, side, price }) => market * 1e6 + (side === 'BUY' ? 0 : 1e5) + price);
    expect(listed).toEqual([...listed].sort((a, b) => a - b));
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.length).toBeGreaterThanOrEqual(count > 32 ? 33 : 3);
  });

  it('contain tops that agree with the changed levels', () => {
    const engine = new Engine(partition);
    engine.apply(envelopeOf([opening], 'OPERATOR'), 0);
    const log = new RandomLog(35);
    const reader = new BookReader();
    for (let record = 1; record < 3_000; record += 1) {
      for (const event of engine.apply(log.next().envelope, record).events) reader.read(event);
    }
    expect(reader.tops.size).toBeGreaterThan(5);
    for (const [market, top] of reader.tops) expect(reader.topOf(market)).toBe(top);
  });

  it('never charge a buyer beyond the hold of the order, however often fees are rounded up', () => {
    const engine = new Engine(partition);
    const rules = marketRules(1, { feeRateBps: 20, minSizeMicro: lotMicro });
    engine.apply(envelopeOf([opening, rules], 'OPERATOR'), 0);
    const makers = Array.from({ length: 100 }, (_, index) =>
      orderOf(10 + index, 2, { outcome: 1, sizeMicro: lotMicro }),
    );
    engine.apply(envelopeOf(makers), 1);
    const taker = orderOf(1, 1, { sizeMicro: 100 * lotMicro, timeInForce: 'FOK' });
    const held = holdMicro({ ...taker, feeRateBps: 20 });
    const { events } = engine.apply(envelopeOf([{ ...taker, holdMicro: held }]), 2);
    expect(events.find(({ kind }) => kind === 'OrderPlaced')).toMatchObject({
      status: 'MATCHED',
      paidMicro: 500_000,
      feeMicro: held - 500_000,
    });
    expect(events.filter((event) => event.kind === 'Fill' && event.feeMicro === 10)).toHaveLength(
      51,
    );
  });
});
