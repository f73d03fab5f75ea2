import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Random } from '@pm/kit/random';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { cancelAll, marketRules, orderOf, startMs } from '../core/commands.ts';
import { codecs, keys, partition } from './sealed-records.ts';

const signers = Array.from({ length: 8 }, (_, byte) => openSignOffKey(Buffer.alloc(32, 40 + byte)));
/** Every key of a history. */
export const historyKeys = [keys.operator, ...signers];

/** Records of any keys, of which many set keys and rules; the opening key signs every third one. */
export class KeyHistory {
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

  /** A random command for a record of the key; for the opening key mostly one that it may sign. */
  #command(key: SignOffKey): Command {
    const roll = this.#random.below(key === keys.operator ? 8 : 14);
    if (roll < 5) return this.#setKey();
    if (roll === 5) return { kind: 'SetRules', version: this.#random.below(newestRules + 1) };
    if (roll === 6 || roll === 8) return marketRules(1 + this.#random.below(3));
    if (roll === 7) return cancelAll({ market: 1 });
    if (roll < 11) return { kind: 'Tick', term: 0, timeMs: startMs };
    if (roll < 13) return orderOf(this.#sequence, 1);
    this.#generation += 1;
    return { kind: 'StartGeneration', generation: this.#generation };
  }

  #setKey(): Command {
    const { publicKey } = this.#random.pick(historyKeys);
    const role = this.#random.pick(['INGRESS', 'OWNER', 'OPERATOR', 'OPERATOR', 'LEDGER'] as const);
    return { kind: 'SetKey', publicKey, role, active: this.#random.below(3) > 0 };
  }
}
