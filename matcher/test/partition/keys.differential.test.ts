import { isDeepStrictEqual } from 'node:util';
import { present } from '@pm/kit/assert';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { runLength, seedsFrom } from '../../../kit/test/long-runs.ts';
import { Engine } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { NaiveKeys } from '../core/naive/naive-keys.ts';
import { historyKeys, KeyHistory } from './key-history.ts';
import { codecs, keys, openingCommand, partition } from './sealed-records.ts';

/** Outcome of a record in the matcher, in the words of the twin. */
function outcomeOf(
  events: readonly ExecutionEvent[],
  commands: readonly Command[],
): ReturnType<NaiveKeys['take']> {
  const [first] = events;
  if (first?.kind === 'RecordRejected')
    return first.reason as Exclude<ReturnType<NaiveKeys['take']>, readonly number[]>;
  const refused = events.flatMap((one) => (one.kind === 'CommandRefused' ? [one.command] : []));
  const set = events.flatMap((one) => (one.kind === 'KeySet' ? [one.command] : []));
  return commands.flatMap(({ kind }, index) => {
    if (kind === 'SetKey') return set.includes(index) ? [index] : [];
    return kind === 'SetRules' && !refused.includes(index) ? [index] : [];
  });
}

const histories = runLength({ test: 1, deep: 8 });

test.each(seedsFrom(1, histories))(
  'keys sign what a naive list of them allows, also across restores, seed %i',
  (seed) => {
    const history = new KeyHistory(seed);
    const twin = new NaiveKeys(keys.operator.publicKey);
    const reader = new EnvelopeReader({
      partition,
      operatorKey: keys.operator.publicKey,
      codec: codecs.orders,
    });
    let engine = new Engine(partition);
    const apply = (offset: number, value: Buffer) => {
      const read = reader.read(engine, value);
      if (read.kind === 'schema_unknown') throw new Error('our own schema');
      if (read.kind === 'rejected') return engine.reject(read.reason).events;
      return engine.apply(read.envelope, offset).events;
    };
    apply(0, history.seal(keys.operator, [openingCommand]));
    const seen = new Set<string>();
    for (let offset = 1; offset <= 2_000; offset += 1) {
      const { key, commands } = history.next();
      const expected = twin.take(key.publicKey, commands);
      const events = apply(offset, history.seal(key, commands));
      const outcome = outcomeOf(events, commands);
      if (!isDeepStrictEqual(outcome, expected))
        expect({ offset, outcome }).toEqual({ offset, outcome: expected });
      const role = twin.find(key.publicKey)?.role ?? 'none';
      seen.add(`${role} ${typeof expected === 'string' ? expected : 'taken'}`);
      if (offset % 97 === 0) engine = Engine.restore(engine.encodeState());
    }
    for (const { keyId, publicKey } of historyKeys) {
      const { role, active } = present(twin.find(publicKey), 'every key was set');
      expect(engine.signOffKey(keyId)).toMatchObject({ role, active });
    }
    expect(engine.rules).toBe(newestRules);
    expect([...seen]).toEqual(
      expect.arrayContaining(['OPERATOR taken', 'OPERATOR NOT_ALLOWED', 'OPERATOR UNKNOWN_KEY']),
    );
  },
);
