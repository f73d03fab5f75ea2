import { type PlacementResult, type RefusalCode, refusals } from '@pm/schemas';
import { type Caller, checkOrder, type DoorRefusal, type SoundOrder } from '../core/check-order.ts';
import { type IsSubmission, readOrderForm } from '../core/order-form.ts';
import type { SignatureJob } from '../core/order-signature.ts';
import { refusedResult } from '../core/placement-result.ts';
import type { OrderRunner, ProvenOrder } from './order-runner.ts';
import type { DoorPorts } from './ports.ts';

/** Results item by item, or one refusal of the whole request. */
export type Placement =
  | { readonly kind: 'results'; readonly results: readonly PlacementResult[] }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

/** An order on its way through the checks, or the result it was refused with. */
type Step = { readonly kind: 'checked'; readonly order: HashedOrder } | Refused;
type Refused = { readonly kind: 'refused'; readonly result: PlacementResult };

interface HashedOrder {
  readonly sound: SoundOrder;
  readonly structHash: Buffer;
}

/** Checks orders and sends what passes; the order of the checks is that of their cost (docs/architecture.md, Checks). */
export class Placements {
  readonly #ports: DoorPorts;
  readonly #runner: OrderRunner;
  readonly #isSubmission: IsSubmission;

  constructor(ports: DoorPorts, runner: OrderRunner, isSubmission: IsSubmission) {
    this.#ports = ports;
    this.#runner = runner;
    this.#isSubmission = isSubmission;
  }

  /** One result per item, in their order. An ill-formed item refuses the request before anything is done. */
  async place(items: readonly unknown[], caller: Caller): Promise<Placement> {
    const startedMs = this.#ports.clock.monotonicMs();
    const steps = this.#checkAll(items, caller);
    this.#ports.metrics.stage('check', this.#ports.clock.monotonicMs() - startedMs);
    if (steps === null) return { kind: 'refused', code: 'invalid_payload' };
    const proven = await this.#prove(steps, caller);
    if (proven === null) return { kind: 'refused', code: 'overloaded' };
    const results = await Promise.all(
      proven.map((step) =>
        step.kind === 'refused' ? step.result : this.#runner.run(step.order, caller),
      ),
    );
    for (const { code, status } of results) {
      if (code === undefined) this.#ports.metrics.placed(status);
      else this.#ports.metrics.refused(code);
    }
    return { kind: 'results', results };
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
      const checked = checkOrder(read.form, caller, (id) => this.#ports.markets.findToken(id));
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

  #refuse(refusal: DoorRefusal, structHash: Buffer, negRisk: boolean): Refused {
    const id = this.#ports.hashes.likelyId(structHash, negRisk);
    const result = refusedResult(refusal.code, { ...refusal.facts, id });
    return { kind: 'refused', result };
  }

  /** Checks all signatures of the request together; null when the queue of checks is full. */
  async #prove(
    steps: readonly Step[],
    caller: Caller,
  ): Promise<readonly ({ kind: 'proven'; order: ProvenOrder } | Refused)[] | null> {
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

/** The refusal all items share when nothing at all can be placed now (425, 503): then it is the request that fails. */
export function commonOutage(results: readonly PlacementResult[]): RefusalCode | null {
  const code = results[0]?.code as RefusalCode | undefined;
  if (code === undefined || !outages.has(code)) return null;
  return results.every((result) => result.code === code) ? code : null;
}

const outages: ReadonlySet<RefusalCode> = new Set([
  'partition_not_ready',
  'overloaded',
  'ledger_not_ready',
]);

/** HTTP status of a refused single order. */
export function statusOf(result: PlacementResult): number {
  const code = result.code as RefusalCode | undefined;
  return code === undefined ? 200 : refusals[code].status;
}
