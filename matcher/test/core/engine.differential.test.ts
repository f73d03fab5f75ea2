import type { ExecutionEvent } from '@pm/schemas';
import { defaultLimits, Engine, type Limits } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { textOf } from './event-text.ts';
import { NaiveEngine } from './naive-engine.ts';
import { RandomLog } from './random-log.ts';

/** Commands in all; more with PM_TEST_COMMANDS. */
const commandsTotal = Number(process.env['PM_TEST_COMMANDS'] ?? 100_000);
/** Every other seed runs out of every budget. */
const tightLimits: Limits = {
  fillsPerOrder: 3,
  fillsPerRecord: 5,
  cancelsPerRecord: 2,
  releasesPerRecord: 2,
  fences: 3,
};
const seeds = [1, 2, 3, 4, 5, 6, 7, 8].map(
  (seed) => [seed, seed % 2 === 0 ? tightLimits : defaultLimits] as const,
);

describe('the engine and its naive twin', () => {
  const seen = new Set<string>();

  it.each(seeds)('give the same events for every record, seed %d, limits %j', (seed, limits) => {
    const engine = new Engine(partition, limits);
    engine.apply(envelopeOf([opening], 'OPERATOR'), 0);
    const twin = new NaiveEngine(opening, limits);
    const log = new RandomLog(seed);
    let commands = 0;
    for (let record = 1; commands < commandsTotal / seeds.length; record += 1) {
      const { envelope, isOperator } = log.next();
      commands += envelope.commands.length;
      const { events, timeMs } = engine.apply(envelope, record);
      const expected = twin.apply(envelope, isOperator, record);
      if (textOf(events) !== textOf(expected)) {
        const of = { seed, record, commands: envelope.commands };
        expect({ ...of, events }).toEqual({ ...of, events: expected });
      }
      const summary = [timeMs, engine.openOrderCount, engine.nextExpiryMs];
      if (textOf(summary) !== textOf(twin.summary())) expect(summary).toEqual(twin.summary());
      if (record % 100 === 0) engine.assertInvariants();
      for (const event of events) seen.add(kindOf(event));
    }
    engine.assertInvariants();
    expect(commands).toBeGreaterThanOrEqual(commandsTotal / seeds.length);
  });

  it('have visited what tight budgets leave to later records, and every end of a delay', () => {
    const leftovers = [
      'OrderDelayed',
      'OrderRepeated DELAYED',
      'OrderPlaced LIVE later',
      'OrderPlaced MATCHED later',
      'OrderPlaced CANCELED later',
      'OrderRefused fenced later',
      'OrderRefused fok_not_filled later',
      'OrderRefused market_resolved later',
      'OrderRefused system_paused later',
      'OrderRefused self_trade later',
      'OrderCanceled SELF_TRADE later',
      'OrderRefused fenced',
      'OrderCanceled EXPIRED later',
      'OrderCanceled MARKET later',
      'OrderRefused fill_limit',
      'CommandRefused too_many_open_orders',
    ];
    expect(leftovers.filter((kind) => !seen.has(kind))).toEqual([]);
  });
});

function kindOf(event: ExecutionEvent): string {
  const words = [event.kind, 'reason' in event && event.reason, 'code' in event && event.code];
  const status = 'status' in event && event.status;
  const later = 'command' in event && event.command === -1 && 'later';
  return [...words, status, later].filter(Boolean).join(' ');
}
