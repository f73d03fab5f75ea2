import { createHash } from 'node:crypto';
import { Engine } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { textOf } from './event-text.ts';
import { RandomLog } from './random-log.ts';

/** Change these only together with a rule, and say so in the change log: old logs would replay to another state. */
const goldenEvents = 'bc68d88635459b4365dab8705f3fe4be0716c95c2e9c01681c4c0565e38ca166';
const goldenState = '73aa456cbd550ddcc72688e6dcecaefb192caa630474ed26576f2044860072bd';

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
