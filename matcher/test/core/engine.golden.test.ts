import { createHash } from 'node:crypto';
import { Engine } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { textOf } from './event-text.ts';
import { RandomLog } from './random-log.ts';

/** Change these only together with a rule, and say so in the change log: old logs would replay to another state. */
const goldenEvents = 'd25918e20974391f74014803fd2799791483b1b426f8c9d0ca7ef69554d81f27';
const goldenState = '83e3009af78008b4f2118d7da2f84c380c362500b10cfa6dd2785f2f8baead53';

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
