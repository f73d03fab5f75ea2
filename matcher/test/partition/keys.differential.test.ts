import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { present } from '@pm/kit/assert';
import { Random } from '@pm/kit/random';
import { type Command, type ExecutionEvent, newestRules } from '@pm/schemas';
import { Engine } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { cancelAll, marketRules, orderOf, startMs } from '../core/commands.ts';
import { NaiveKeys } from '../core/naive/naive-keys.ts';
import { codecs, keys, openingCommand, partition } from './sealed-records.ts';

const signers = Array.from({ length: 8 }, (_, byte) => openSignOffKey(Buffer.alloc(32, 40 + byte)));
const all = [keys.operator, ...signers];

/** Records of any keys, of which many set keys and rules; the opening key signs every third one. */
class KeyHistory {
  readonly #random: Random;
  #generation = 0;
  #sequence = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  next(): { readonly key: SignOffKey; readonly commands: readonly Command[] } {
    const key = this.#random.below(3) === 0 ? keys.operator : this.#random.pick(signers);
    const count = 1 + this.#random.below(3);
    return { key, commands: Array.from({ length: count }, () => this.#command(key)) };
  }

  seal(key: SignOffKey, commands: readonly Command[]): Buffer {
    this.#sequence += 1;
    return sealEnvelope(codecs.orders, key, { partition, sequence: this.#sequence, commands });
  }

  /** Of the opening key mostly one that it may sign. */
  #command(key: SignOffKey): Command {
    const roll = this.#random.below(key === keys.operator ? 8 : 14);
    if (roll < 5) return this.#setKey();
    if (roll === 5) return { kind: 'SetRules', version: this.#random.below(newestRules + 1) };
    if (roll === 6 || roll === 8) return marketRules(1 + this.#random.below(3));
    if (roll === 7) return cancelAll({ market: 1 });
    if (roll < 11) return { kind: 'Tick', timeMs: startMs };
    if (roll < 13) return orderOf(this.#sequence, 1);
    this.#generation += 1;
    return { kind: 'StartGeneration', generation: this.#generation };
  }

  #setKey(): Command {
    const { publicKey } = this.#random.pick(all);
    const role = this.#random.pick(['INGRESS', 'OWNER', 'OPERATOR', 'OPERATOR', 'LEDGER'] as const);
    return { kind: 'SetKey', publicKey, role, active: this.#random.below(3) > 0 };
  }
}

/** What the matcher makes of a record, in the words of the twin. */
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

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
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
      expect([offset, outcomeOf(events, commands)]).toEqual([offset, expected]);
      const role = twin.find(key.publicKey)?.role ?? 'none';
      seen.add(`${role} ${typeof expected === 'string' ? expected : 'taken'}`);
      if (offset % 97 === 0) engine = Engine.restore(engine.encodeState());
    }
    for (const { keyId, publicKey } of all) {
      const { role, active } = present(twin.find(publicKey), 'every key was set');
      expect(engine.signOffKey(keyId)).toMatchObject({ role, active });
    }
    expect(engine.rules).toBe(newestRules);
    expect([...seen]).toEqual(
      expect.arrayContaining(['OPERATOR taken', 'OPERATOR NOT_ALLOWED', 'OPERATOR UNKNOWN_KEY']),
    );
  },
);
