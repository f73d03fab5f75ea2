import type { RefusalCode } from '@pm/schemas/refusals';
import { openCodes } from '../../../acceptance/test/money/open-codes.ts';
import type { Placement } from '../../../client/src/placement-result.ts';

/**
 * Result of a request as its client knows it: `unknown` before a response, and after one that leaves the result open.
 */
export type Knowledge = 'done' | 'refused' | 'unknown';

/** Refusals after which the same request may be carried out later. */
const passing: ReadonlySet<RefusalCode> = new Set([
  'partition_not_ready',
  'ledger_not_ready',
  'overloaded',
  'rate_limited',
]);

export function knowledgeOf(result: Pick<Placement, 'success' | 'status' | 'code'>): Knowledge {
  if (result.success) return result.status === 'delayed' ? 'unknown' : 'done';
  return knowledgeOfCode(result.code as RefusalCode);
}

export function knowledgeOfCode(code: RefusalCode): Knowledge {
  return openCodes.has(code) ? 'unknown' : 'refused';
}

/** Whether a client that got this answer sends the same request again; after a self-trade it would hear the same. */
export function isAskedAgain(knowledge: Knowledge, code: string | undefined): boolean {
  if (code === 'self_trade') return false;
  return knowledge === 'unknown' || passing.has(code as RefusalCode);
}

interface Slot {
  knowledge: Knowledge;
  /** Further content of the response, in which all responses must agree; empty where there is none. */
  fact: string;
}

/** All answers to clients, by the id of what they asked for; at the end of a run they must be true. */
export class Answers {
  readonly #slots = new Map<string, Slot[]>();
  /** The newest result of a client, by the id of its request. */
  readonly #said = new Map<string, Knowledge>();
  requests = 0;
  done = 0;
  refused = 0;

  /** How often each refusal was answered, by its code. */
  readonly codes = new Map<string, number>();

  code(code: string): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  /** A request for an id: unknown until it is answered. */
  open(id: Buffer): (knowledge: Knowledge, fact?: string) => void {
    this.requests += 1;
    const name = id.toString('hex');
    const slots = this.#slots.get(name) ?? [];
    this.#slots.set(name, slots);
    const slot: Slot = { knowledge: 'unknown', fact: '' };
    slots.push(slot);
    return (knowledge, fact = '') => {
      Object.assign(slot, { knowledge, fact });
      if (knowledge === 'done') this.done += 1;
      if (knowledge === 'refused') this.refused += 1;
    };
  }

  /** A client has a result for its request. */
  say(id: Buffer, knowledge: Knowledge): void {
    this.#said.set(id.toString('hex'), knowledge);
  }

  /** Every broken promise, given what the log has carried out. */
  *broken(carriedOut: ReadonlyMap<string, number>): Generator<string> {
    yield* this.#wrong(carriedOut);
    for (const [id, slots] of this.#slots) {
      const isOnLog = carriedOut.has(id);
      if (!isOnLog && slots.some(({ knowledge }) => knowledge === 'done'))
        yield `${id} was confirmed and is not on the log`;
      if (isOnLog && slots.every(({ knowledge }) => knowledge === 'refused'))
        yield `${id} was refused and carried out`;
      const facts = new Set(slots.flatMap(({ fact }) => (fact === '' ? [] : [fact])));
      if (facts.size > 1) yield `${id} was answered as ${[...facts].join(' and ')}`;
    }
  }

  /** Results of clients that the log contradicts. */
  *#wrong(carriedOut: ReadonlyMap<string, number>): Generator<string> {
    for (const [id, said] of this.#said) {
      const isOnLog = carriedOut.has(id);
      if (said === (isOnLog ? 'refused' : 'done'))
        yield `${id} is ${said} for its client and ${isOnLog ? '' : 'not '}on the log`;
    }
  }
}
