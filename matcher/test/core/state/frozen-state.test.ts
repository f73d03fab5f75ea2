import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { runLength, seedsFrom } from '../../../../kit/test/long-runs.ts';
import { Engine, encodeFrozen, type FrozenState, keyIdOf } from '../../../src/core/index.ts';
import { envelopeOf, opening, partition } from '../commands.ts';
import { RandomLog } from '../random-log.ts';

const ownerKey = Buffer.alloc(32, 77);
const newest: readonly Command[] = [
  { kind: 'SetRules', version: newestRules },
  { kind: 'SetKey', publicKey: ownerKey, role: 'OWNER', active: true },
];
const words = (count: number): Int32Array => new Int32Array(count);

/** An engine that takes the records of a random log, under the newest rules or the first. */
function engineOf(seed: number, isNewest: boolean) {
  const log = new RandomLog(seed, isNewest);
  const engine = new Engine(partition);
  engine.apply(envelopeOf([opening, ...(isNewest ? newest : [])], 'OPERATOR'), 0);
  const step = (record: number): void => {
    const { envelope } = log.next();
    const isTick = isNewest && envelope.commands.some(({ kind }) => kind === 'Tick');
    engine.apply(isTick ? { ...envelope, keyId: keyIdOf(ownerKey) } : envelope, record);
  };
  return { engine, step };
}

interface Frozen {
  readonly state: FrozenState;
  readonly bytes: Buffer;
  readonly until: number;
}

describe('a frozen state', () => {
  const logs = runLength({ test: 2, deep: 4 });

  it.each(seedsFrom(1, logs))('stays as it was while the engine goes on, seed %d', (seed) => {
    const { engine, step } = engineOf(seed, seed % 2 === 0);
    const frozen: Frozen[] = [];
    let compared = 0;
    for (let record = 1; record <= 2_500; record += 1) {
      // Some overlap, and in between nothing is frozen, so that held slots are used again.
      if (record % 97 < 2 && record % 1_000 < 700) {
        const bytes = engine.encodeState();
        frozen.push({
          state: engine.freeze(words),
          bytes,
          until: record + 1 + ((record * 7) % 150),
        });
      }
      step(record);
      for (const one of frozen.splice(0)) {
        if (one.until > record) {
          frozen.push(one);
          continue;
        }
        expect(encodeFrozen(one.state).equals(one.bytes)).toBe(true);
        engine.thaw();
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(30);
    const bytes = engine.encodeState();
    engine.assertInvariants();
    expect(Engine.restore(bytes).encodeState().equals(bytes)).toBe(true);
  });

  it('is a plain value, so that another thread can have it', () => {
    const log = new RandomLog(9);
    const engine = new Engine(partition);
    const unopened = structuredClone(engine.freeze(words));
    expect(encodeFrozen(unopened).equals(engine.encodeState())).toBe(true);
    engine.apply(envelopeOf([opening], 'OPERATOR'), 0);
    for (let record = 1; record <= 300; record += 1) engine.apply(log.next().envelope, record);
    const copy = structuredClone(engine.freeze(words));
    expect(encodeFrozen(copy).equals(engine.encodeState())).toBe(true);
  });
});
