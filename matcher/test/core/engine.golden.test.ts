import { createHash } from 'node:crypto';
import { Engine } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { RandomLog } from './random-log.ts';
import { textOf } from './state-text.ts';

/** Change these only together with a rule and a line in the changelog: old logs would replay to another state. */
const goldenEvents = '39ed1ae13c8bf96bf264091bb954ac0e0b6257184c2d8201fad1b33d74b066f9';
const goldenState = '845dd436a64fd51720fa7538a9c399e1cb0872dd2a51c5ec9508101bae7323f3';

it('a fixed log gives the events and the state it always gave', () => {
  const engine = new Engine(partition);
  const events = createHash('sha256');
  events.update(textOf(engine.apply(envelopeOf([opening], 'OPERATOR'), 0).events));
  const log = new RandomLog(2026, false);
  for (let record = 1; record <= 3_000; record += 1) {
    events.update(textOf(engine.apply(log.next().envelope, record).events));
  }
  const state = createHash('sha256').update(engine.encodeState());
  expect([events.digest('hex'), state.digest('hex')]).toEqual([goldenEvents, goldenState]);
});
