import { createHash } from 'node:crypto';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import { keyIdOf, maySign } from '../../../src/core/index.ts';
import { sha256 } from '../../../src/core/rules/sha256.ts';
import { cancelAll, envelopeOf, marketRules, opening, orderOf } from '../commands.ts';

describe('a key id', () => {
  it('is the start of a SHA-256 that agrees with that of Node', () => {
    for (let length = 0; length < 200; length += 7) {
      const message = Buffer.alloc(length, length);
      expect(sha256(message)).toEqual(createHash('sha256').update(message).digest());
    }
    const digest = createHash('sha256').update(opening.operatorKey).digest();
    expect(keyIdOf(opening.operatorKey)).toEqual(digest.subarray(0, 8));
  });
});

describe('a role', () => {
  it('allows its own commands and no other', () => {
    const tick = { kind: 'Tick', term: 0, timeMs: 1 } as const;
    expect(maySign('INGRESS', envelopeOf([orderOf(1, 1), cancelAll()]), newestRules)).toBe(true);
    expect(maySign('INGRESS', envelopeOf([orderOf(1, 1), tick]), newestRules)).toBe(true);
    expect(maySign('INGRESS', envelopeOf([tick]), rules.witnessedClock - 1)).toBe(false);
    expect(maySign('OWNER', envelopeOf([tick]), newestRules)).toBe(true);
    expect(maySign('OWNER', envelopeOf([cancelAll()]), newestRules)).toBe(false);
    expect(maySign('OPENING', envelopeOf([opening, cancelAll()]), newestRules)).toBe(true);
    expect(maySign('OPENING', envelopeOf([orderOf(1, 1)]), newestRules)).toBe(false);
    expect(maySign('OPERATOR', envelopeOf([cancelAll(), marketRules(1)]), newestRules)).toBe(true);
    expect(maySign('OPERATOR', envelopeOf([orderOf(1, 1)]), newestRules)).toBe(false);
    expect(maySign('OWNER', envelopeOf([]), newestRules)).toBe(true);
  });
});

describe('a ledger key', () => {
  it('may sign generations and nothing else', () => {
    const generation = { kind: 'StartGeneration', generation: 1 } as const;
    expect(maySign('LEDGER', envelopeOf([generation]), newestRules)).toBe(true);
    expect(maySign('LEDGER', envelopeOf([generation, orderOf(1, 1)]), newestRules)).toBe(false);
    expect(maySign('INGRESS', envelopeOf([generation]), newestRules)).toBe(false);
  });
});
