import { createHash } from 'node:crypto';
import { Engine } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { textOf } from './event-text.ts';
import { RandomLog } from './random-log.ts';

/** Change these only together with a rule, and say so in the change log: old logs would replay to another state. */
const goldenEvents = '5ae934e7aa203bf3420a30d820d6d332bc8a299bd9542a1fb18e6081f9e2d618';
const goldenState = 'a6d12950f2a9beadca90d6a0d10b5dfef0fbc32561275645f753607189e60fca';

it('a fixed log gives the events and the state it always gave', () => {
  const engine = new Engine(partition);
  const events = createHash('sha256');
  events.update(textOf(engine.apply(envelopeOf([opening], 'OPERATOR'), 0).events));
  const log = new RandomLog(2026);
  for (let record = 1; record <= 3_000; record += 1) {
    events.update(textOf(engine.apply(log.next().envelope, record).events));
  }
  const state = createHash('sha256').update(engine.encodeState());
  expect([events.digest('hex'), state.digest('hex')]).toEqual([goldenEvents, goldenState]);
});
