import type { ListedToken } from '@pm/domain/catalog/catalog-index';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { RecentResults } from '@pm/domain/commands/recent-results-cache';
import { waiterOf } from '@pm/domain/commands/waiting-shares';
import type { OrderHasher } from '@pm/domain/orders/eip712';
import type { Reservations } from '@pm/domain/orders/reservation.io';
import { reactionTo } from '@pm/kit/fault';
import { microText, priceText } from '@pm/schemas/decimal';
import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import { type RefusalCode, refusalText } from '@pm/schemas/refusals';
import {
  admissionRefusal,
  type Caller,
  type CheckedOrder,
  type OrderRefusal,
  type UnprovenOrder,
} from './check.ts';
import type { OrderFinding, OrderPipeline } from './pipeline.io.ts';
import type { SignaturePool } from './signature-pool.io.ts';

export interface DryRunOptions {
  readonly recentResults: Pick<RecentResults, 'recall'>;
  readonly partitions: Pick<PartitionLiveness, 'isReady'>;
  readonly ledger: Pick<Reservations, 'balance'>;
  readonly hashes: Pick<OrderHasher, 'likelyId'>;
  readonly signatures: Pick<SignaturePool, 'explain'>;
}

/**
 * Takes an order through every check of placing and stops there: nothing is held, remembered or sent (conventions.md
 * 3.11).
 */
export class DryRun {
  readonly #options: DryRunOptions;
  readonly #pipeline: OrderPipeline;

  constructor(options: DryRunOptions, pipeline: OrderPipeline) {
    this.#options = options;
    this.#pipeline = pipeline;
  }

  async inspect(item: unknown, caller: Caller) {
    const findings: OrderFinding[] = [];
    const checked = await this.#pipeline.check([item], caller, {
      add: (finding) => findings.push(finding),
    });
    const [finding] = findings;
    if (typeof checked === 'string') return invalidForm(checked);
    const [order] = checked;
    if (order === undefined) return invalidForm('invalid_payload');
    if (finding === undefined) {
      return invalidForm(order.kind === 'refused' ? order.code : 'invalid_payload');
    }
    return await this.#describe(finding, order, caller);
  }

  async #describe(finding: OrderFinding, order: CheckedOrder | OrderRefusal, caller: Caller) {
    const { rules, token } = finding;
    const signature = await this.#signatureOf(finding, caller);
    // Without a price the amounts say nothing.
    const priced = rules.kind === 'checked' && rules.amounts.price > 0 ? rules : null;
    const money = priced === null ? null : await this.#moneyOf(priced);
    const orderId = signature.checked ? signature.orderHash : signature.likelyHash;
    const isKnown = this.#isKnown(orderId);
    const problem =
      order.kind === 'refused' ? order : isKnown ? null : this.#refusalOf(order, money);
    const facts = { ...problem?.facts, id: orderId ?? signature.likelyHash };
    return {
      valid: problem === null,
      ...(problem === null ? {} : { code: problem.code }),
      errorMsg: problem === null ? '' : (problem.text ?? refusalText(problem.code, facts)),
      orderID: orderId ?? '',
      known: isKnown,
      signature,
      order: priced === null ? null : amountsOf(priced),
      money,
      market: token === undefined ? null : this.#rulesOf(token),
    };
  }

  /** The expected signer, and the signer under each known domain; no domain while too many wait to be explained. */
  async #signatureOf({ form, job, hash }: OrderFinding, caller: Caller) {
    const { hashes, signatures } = this.#options;
    const checked = form.signature.length > 0;
    return {
      checked,
      valid: checked && hash !== null,
      signatureType: form.struct.signatureType,
      expected: caller.address,
      structHash: `0x${job.structHash.toString('hex')}`,
      orderHash: hash === null ? null : orderIdFromBytes(hash),
      likelyHash: hashes.likelyId(job.structHash, job.negRisk),
      domains: (await signatures.explain(job, waiterOf(caller))) ?? [],
    };
  }

  /** The money that the order needs, and whether it is there; null for what is not known here. */
  async #moneyOf({ form, holdMicro }: UnprovenOrder) {
    const needed = { wallet: form.maker, needed: microText(holdMicro) };
    const unknown = { ...needed, available: null, sufficient: null };
    // Only the matcher knows who has which tokens.
    if (form.struct.side === 'SELL') return unknown;
    try {
      const { availableMicro } = await this.#options.ledger.balance(form.maker);
      const available = microText(availableMicro);
      return { ...needed, available, sufficient: availableMicro >= holdMicro };
    } catch (error) {
      if (reactionTo(error) !== 'retry') throw error;
      return unknown;
    }
  }

  /** The refusal that a checked order would meet on its way to the log. */
  #refusalOf(
    order: CheckedOrder,
    money: { readonly sufficient: boolean | null } | null,
  ): OrderRefusal | null {
    const refusal = admissionRefusal(order, this.#options.partitions);
    if (refusal !== null || money?.sufficient !== false) return refusal;
    return { kind: 'refused', code: 'insufficient_balance_or_allowance' };
  }

  /** Whether the order has a result already: placing it again would return that. */
  #isKnown(orderId: OrderId | null): boolean {
    return orderId !== null && this.#options.recentResults.recall(orderId) !== undefined;
  }

  #rulesOf({ market, conditionId, outcome }: ListedToken) {
    return {
      condition_id: conditionId,
      outcome,
      mode: market.mode,
      neg_risk: market.negRisk,
      minimum_tick_size: priceText(market.tick),
      min_order_size: microText(market.minSizeMicro),
      fee_rate_bps: market.feeRateBps,
      taker_delay_ms: market.takerDelayMs,
      ready: this.#options.partitions.isReady(market.partition),
    };
  }
}

function invalidForm(code: RefusalCode) {
  return { valid: false, code, errorMsg: refusalText(code) };
}

function amountsOf({ form, amounts, expiresAtMs }: UnprovenOrder) {
  return {
    side: form.struct.side,
    orderType: form.timeInForce,
    postOnly: form.postOnly,
    price: priceText(amounts.price),
    size: microText(amounts.sizeMicro),
    budget: microText(amounts.budgetMicro),
    leaves_book_at: expiresAtMs === 0 ? null : new Date(expiresAtMs).toISOString(),
  };
}
