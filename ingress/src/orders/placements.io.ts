import { reactionTo } from '@pm/kit/fault';
import type { PlacementResult, RefusalCode } from '@pm/schemas';
import type { Turn } from '../door/idempotent.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { type Caller, checkOrder, type DoorRefusal, type SoundOrder } from './check.ts';
import { type Attempted, decodeAttempts, encodeAttempts, type ProvenOrder } from './command.ts';
import { type IsSubmission, meaningOf, readOrderForm } from './form.ts';
import { refusedResult } from './order-response.ts';
import type { SignatureJob } from './signature.ts';
import type { OrderRunner, Placing } from './submit.io.ts';

/** Results item by item, or one refusal of the whole request. */
export type Placement =
  | { readonly kind: 'results'; readonly results: readonly PlacementResult[] }
  /** `isOpen`: what an earlier turn sent is not known yet. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly isOpen?: true };

/** An order on its way through the checks, or the result it was refused with. */
type Step = { readonly kind: 'checked'; readonly order: HashedOrder } | Refused;
type Refused = { readonly kind: 'refused'; readonly result: PlacementResult };
type Proven = { readonly kind: 'proven'; readonly order: ProvenOrder } | Refused;

interface HashedOrder {
  readonly sound: SoundOrder;
  readonly structHash: Buffer;
}

/** Checks orders and sends what passes; the order of the checks is that of their cost (architecture.md, Checks). */
export class Placements {
  readonly #ports: DoorPorts;
  readonly #runner: OrderRunner;
  readonly #isSubmission: IsSubmission;

  constructor(ports: DoorPorts, runner: OrderRunner, isSubmission: IsSubmission) {
    this.#ports = ports;
    this.#runner = runner;
    this.#isSubmission = isSubmission;
  }

  /** What the items mean, for their retry key; null when one is malformed. */
  meaningOf(items: readonly unknown[]): string | null {
    return meaningOf(items, this.#isSubmission);
  }

  /**
   * One result per item, in their order. An ill-formed item refuses the request before anything is done. `turn` is that of
   * a request with a retry key.
   */
  async place(items: readonly unknown[], placing: Placing, turn?: Turn): Promise<Placement> {
    const startedMs = this.#ports.clock.monotonicMs();
    const steps = this.#checkAll(items, placing.caller);
    this.#ports.metrics.stage('check', this.#ports.clock.monotonicMs() - startedMs);
    if (steps === null) return { kind: 'refused', code: 'invalid_payload' };
    const proven = await this.#prove(steps, placing.caller);
    placing.times.mark('validate');
    if (proven === null) return { kind: 'refused', code: 'overloaded' };
    if (turn === undefined) return this.#count(await this.#send(proven, placing));
    return await this.#sendOnce(proven, placing, turn);
  }

  #count(results: readonly PlacementResult[]): Placement {
    for (const { code, status } of results) {
      if (code === undefined) this.#ports.metrics.placed(status);
      else this.#ports.metrics.refused(code);
    }
    return { kind: 'results', results };
  }

  async #send(proven: readonly Proven[], placing: Placing): Promise<readonly PlacementResult[]> {
    return await Promise.all(
      proven.map((step) =>
        step.kind === 'refused' ? step.result : this.#runner.run(step.order, placing),
      ),
    );
  }

  /**
   * What an earlier turn was about to send is asked for first: what became of it is the answer. Only items that never came
   * and never can are sent now, after what is sent has been recorded.
   */
  async #sendOnce(proven: readonly Proven[], placing: Placing, turn: Turn): Promise<Placement> {
    const before = turn.attempt === '' ? [] : decodeAttempts(turn.attempt);
    if (before === null) return { kind: 'refused', code: 'internal_error', isOpen: true };
    const told = await Promise.all(
      before.map((one) => (one === null ? null : this.#runner.ask(one))),
    );
    const unknown = told.find((result) => result !== null && isUnknown(result));
    if (unknown) return { kind: 'refused', code: unknown.code as RefusalCode, isOpen: true };
    const attempts = proven.map((step, index): Attempted | null => {
      if ((told[index] ?? null) !== null) return before[index] ?? null;
      return step.kind === 'refused' ? null : this.#runner.attemptOf(step.order, placing);
    });
    const refusal = await record(turn, encodeAttempts(attempts));
    if (refusal !== null) return { kind: 'refused', code: refusal, isOpen: true };
    const left = proven.map((step, index): Proven => {
      const result = told[index] ?? null;
      return result === null ? step : { kind: 'refused', result };
    });
    return this.#count(await this.#send(left, placing));
  }

  /** Null when an item is malformed. */
  #checkAll(items: readonly unknown[], caller: Caller): readonly Step[] | null {
    const steps: Step[] = [];
    const seen = new Set<string>();
    for (const item of items) {
      const read = readOrderForm(item, this.#isSubmission);
      if (read.kind === 'malformed') return null;
      if (read.kind === 'refused') {
        steps.push({ kind: 'refused', result: refusedResult(read.code) });
        continue;
      }
      const checked = checkOrder(read.form, caller, this.#ports);
      const structHash = this.#ports.hashes.structHash(read.form.struct);
      const negRisk = checked.kind === 'sound' && checked.token.market.negRisk;
      const refusal = checked.kind === 'refused' ? checked : repetitionOf(structHash, seen);
      if (refusal !== null) steps.push(this.#refuse(refusal, structHash, negRisk));
      else if (checked.kind === 'sound') {
        steps.push({ kind: 'checked', order: { sound: checked, structHash } });
      }
    }
    return steps;
  }

  #refuse({ code, facts, text }: DoorRefusal, structHash: Buffer, negRisk: boolean): Refused {
    const id = this.#ports.hashes.likelyId(structHash, negRisk);
    return { kind: 'refused', result: refusedResult(code, { ...facts, id }, text) };
  }

  /** Checks all signatures of the request together; null when the queue of checks is full. */
  async #prove(steps: readonly Step[], caller: Caller): Promise<readonly Proven[] | null> {
    const startedMs = this.#ports.clock.monotonicMs();
    const owner = Buffer.from(caller.address.slice(2), 'hex');
    const orders = steps.flatMap((step) => (step.kind === 'checked' ? [step.order] : []));
    const jobs = orders.map((order) => jobOf(order, owner));
    const verdicts = jobs.length === 0 ? [] : await this.#ports.signatures.check(jobs);
    this.#ports.metrics.stage('signature', this.#ports.clock.monotonicMs() - startedMs);
    if (verdicts === null) return null;
    let next = 0;
    return steps.map((step) => {
      if (step.kind === 'refused') return step;
      const hash = verdicts[next++] ?? null;
      if (hash === null) return { kind: 'refused', result: refusedResult('invalid_signature') };
      return { kind: 'proven', order: { sound: step.order.sound, hash } };
    });
  }
}

const unasked: ReadonlySet<string | undefined> = new Set<RefusalCode>([
  'partition_not_ready',
  'ledger_not_ready',
  'overloaded',
  'internal_error',
]);

/** Whether the log could not be asked. */
function isUnknown({ code }: PlacementResult): boolean {
  return unasked.has(code);
}

/** Null when it is recorded; otherwise nothing may be sent. */
async function record(turn: Turn, attempt: string): Promise<RefusalCode | null> {
  try {
    return (await turn.record(attempt)) ? null : 'idempotency_in_progress';
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return 'retries_unavailable';
  }
}

function repetitionOf(structHash: Buffer, seen: Set<string>): DoorRefusal | null {
  const name = structHash.toString('latin1');
  if (seen.has(name)) return { kind: 'refused', code: 'duplicate' };
  seen.add(name);
  return null;
}

function jobOf({ sound, structHash }: HashedOrder, owner: Buffer): SignatureJob {
  const { struct, signature } = sound.form;
  const { negRisk } = sound.token.market;
  const wrapped = struct.signatureType === 3;
  return { signature, structHash, wrapped, negRisk, owner, maker: struct.maker };
}
