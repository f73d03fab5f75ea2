import { createHash } from 'node:crypto';
import { Engine } from '../../src/core/index.ts';
import { envelopeOf, opening, partition } from './commands.ts';
import { textOf } from './event-text.ts';
import { RandomLog } from './random-log.ts';

/** Change these only together with a rule, and say so in the change log: old logs would replay to another state. */
const goldenEvents = '49dfb60a165a7fb048efcae5ad0f89e3e7637aeb54e8977f3ec2ad6189d8feb0';
const goldenState = '5fb8583d11c9854396289ebb48f2ddad49ebf7b4a02bb46a9819fa8712dbadb7';

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
