import { Random } from '@pm/kit/random';
import { type Command, noOwner, ownerIdBytes } from '@pm/schemas/log/orders';
import { envelopeOf } from './commands.ts';
import { RandomLog, type RandomRecord } from './random-log.ts';

/** Share of the records that are claims, and of the ticks that have another term than that of the owner. */
const claimsIn = 25;
const strangersIn = 5;

/** A random log whose partition is claimed again and again, also too late and too early; its ticks have terms. */
export class ClaimedLog {
  readonly #log: RandomLog;
  readonly #random: Random;
  readonly #isNewest: boolean;
  #term = 0;

  /** `isNewest`: whether the log has the newest rules, which take claims; or the first. */
  constructor(seed: number, isNewest: boolean) {
    this.#log = new RandomLog(seed, isNewest);
    this.#random = new Random(seed + 1_000_000);
    this.#isNewest = isNewest;
  }

  next(): RandomRecord {
    if (this.#random.below(claimsIn) === 0)
      return { envelope: envelopeOf([this.#claim()]), isOperator: false };
    const record = this.#log.next();
    const commands = record.envelope.commands.map((command) => this.#withTerm(command));
    return { ...record, envelope: { ...record.envelope, commands } };
  }

  #claim(): Command {
    const term = this.#term + this.#random.pick([-1, 0, 1, 1, 1, 2]);
    if (this.#isNewest && term === this.#term + 1) this.#term = term;
    const isResigned = this.#random.below(4) === 0;
    const owner = isResigned ? noOwner : Buffer.alloc(ownerIdBytes, this.#random.integer(1, 5));
    return { kind: 'ClaimPartition', term, owner };
  }

  #withTerm(command: Command): Command {
    if (command.kind !== 'Tick') return command;
    const isStranger = this.#random.below(strangersIn) === 0;
    return { ...command, term: isStranger ? this.#term + this.#random.pick([-1, 1]) : this.#term };
  }
}
