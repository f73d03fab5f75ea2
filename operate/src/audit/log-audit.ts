import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { EventOf, Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import { BookLevels } from './book-levels.ts';
import { openOrderDigest } from './digests.ts';
import { add, FillTotals } from './fill-totals.ts';
import { moneyViolations } from './money-checks.ts';
import type { LegSource } from './positions.ts';

/** An order by the records of the log. */
export interface AuditedOrder {
  readonly market: number;
  readonly wallet: string;
  /** Micro-USDC held per micro-share that rests: its limit for a BUY, nothing for a SELL; 1/10000. */
  readonly heldPrice: number;
  /** Digest of its row of `open_orders`. */
  readonly digest: number;
  restingMicro: number;
}

/** Facts of a record besides its events, from its bytes and its place. */
export interface RecordFacts {
  readonly partition: number;
  readonly chainHolds: boolean;
}

/**
 * Judges a log of executions by its events alone: it knows the contracts and uses no result of the exchange's own code.
 * Every broken rule becomes a line in `violations`; the totals of the log are compared with the projections.
 */
export class LogAudit {
  readonly violations: string[] = [];
  readonly orders = new Map<string, AuditedOrder>();
  /** Orders that wait for the end of a taker delay, with the micro-USDC that each locks. */
  readonly delayed = new Map<string, { readonly wallet: string; readonly heldMicro: number }>();
  readonly totals = new FillTotals();
  /** Market -> its book, in terms of token 0. */
  readonly levels = new Map<number, BookLevels>();
  /** Wallet -> its money by the events, micro-USDC. */
  readonly free = new Map<string, number>();
  readonly held = new Map<string, number>();
  /** Resolved market -> what token 0 pays, 1/10000 USDC. */
  readonly payouts = new Map<number, number>();
  checkpoints = 0;
  placed = 0;
  fills = 0;
  refused = 0;
  repeated = 0;
  rejectedRecords = 0;
  /** Rejected records that were no envelopes. */
  unreadableRecords = 0;
  readonly #feeWallet: string;
  readonly #keepsEnded: boolean;
  readonly #nextOffset = new Map<number, number>();
  /** The record of the current events. */
  #source: LegSource = { partition: 0, inOffset: 0, timeMs: 0 };
  /** Takers whose fills were read and whose order was not yet: order id -> micro-shares. */
  readonly #unplaced = new Map<string, number>();
  /** Market -> micro-shares, by orders and by levels: equal after every record. */
  readonly #resting = new Map<number, number>();
  readonly #shown = new Map<number, number>();

  /**
   * `keepsEnded: false` forgets orders that have left the book, so that memory follows what is alive, not the log's
   * length.
   */
  constructor(feeWallet: string, { keepsEnded = true }: { readonly keepsEnded?: boolean } = {}) {
    this.#feeWallet = feeWallet;
    this.#keepsEnded = keepsEnded;
  }

  /** Input offset after the last record of a partition. */
  nextInOffset(partition: number): number {
    return this.#nextOffset.get(partition) ?? 0;
  }

  /** One record of `executions`, in order within its partition. False when it repeats one already seen. */
  record(execution: Execution, facts: RecordFacts): boolean {
    const expected = this.#nextOffset.get(facts.partition) ?? 0;
    if (execution.inOffset < expected) {
      this.repeated += 1;
      return false;
    }
    if (execution.inOffset > expected) {
      this.#broken(`F1 partition ${facts.partition}: ${expected} missing`);
    }
    if (!facts.chainHolds) this.#broken(`F1 partition ${facts.partition}: chain broken`);
    this.#nextOffset.set(facts.partition, execution.inOffset + 1);
    const { inOffset, timeMs } = execution;
    this.#source = { partition: facts.partition, inOffset, timeMs };
    for (const event of execution.events) this.#event(event);
    this.#checkBooks(execution);
    return true;
  }

  /** Rules that hold for the log as a whole. */
  finish(): void {
    for (const violation of moneyViolations(this)) this.#broken(violation);
    for (const id of this.#unplaced.keys()) this.#broken(`F2 taker ${id} was never placed`);
  }

  #event(event: ExecutionEvent): void {
    switch (event.kind) {
      case 'OrderPlaced':
        this.#placed(event);
        break;
      case 'Fill':
        this.#fill(event);
        break;
      case 'OrderCanceled':
        this.#canceled(event);
        break;
      case 'OrderDelayed':
        this.#delayed(event);
        break;
      case 'OrderRefused':
        this.refused += 1;
        this.delayed.delete(orderIdFromBytes(event.orderId));
        break;
      case 'PositionMoved':
        this.#moved(event);
        break;
      case 'MoneyMoved':
        add(this.free, walletFromBytes(event.wallet), event.freeMicro);
        add(this.held, walletFromBytes(event.wallet), event.heldMicro);
        break;
      case 'LevelChanged':
        this.#level(event);
        break;
      case 'TopChanged':
        this.#levelsOf(event.market).stated = { bid: event.bid, ask: event.ask };
        break;
      case 'RecordRejected':
        this.rejectedRecords += 1;
        if (event.reason === 'UNREADABLE') this.unreadableRecords += 1;
        break;
      case 'Checkpoint':
        this.checkpoints += 1;
        break;
      case 'MarketResolved':
        this.payouts.set(event.market, event.payout0);
        break;
      default:
        break;
    }
  }

  #delayed({ orderId, maker, heldMicro }: EventOf<'OrderDelayed'>): void {
    const id = orderIdFromBytes(orderId);
    if (this.delayed.has(id) || this.orders.has(id)) this.#broken(`L1 ${id} delayed when known`);
    this.delayed.set(id, { wallet: walletFromBytes(maker), heldMicro });
  }

  #placed(event: EventOf<'OrderPlaced'>): void {
    const id = orderIdFromBytes(event.orderId);
    this.delayed.delete(id);
    if (this.orders.has(id)) this.#broken(`L1 ${id} placed twice`);
    const filled = this.#unplaced.get(id) ?? 0;
    this.#unplaced.delete(id);
    if (filled !== event.filledMicro) {
      this.#broken(`F2 ${id} states ${event.filledMicro} filled, its fills are ${filled}`);
    }
    const isMarketBuy = event.timeInForce === 'FOK' || event.timeInForce === 'FAK';
    if (!isMarketBuy && event.filledMicro + event.restingMicro > event.sizeMicro) {
      this.#broken(`F2 ${id} is larger than its size`);
    }
    this.placed += 1;
    if (event.restingMicro === 0 && !this.#keepsEnded) return;
    this.orders.set(id, {
      market: event.market,
      wallet: walletFromBytes(event.maker),
      heldPrice: event.side === 'BUY' ? event.price : 0,
      digest: openOrderDigest(event, this.#source),
      restingMicro: event.restingMicro,
    });
    add(this.#resting, event.market, event.restingMicro);
  }

  #fill(fill: Fill): void {
    this.fills += 1;
    this.totals.applyFill(fill, this.#feeWallet, this.#source);
    add(this.#unplaced, orderIdFromBytes(fill.takerOrderId), fill.sizeMicro);
    this.#makerFilled(fill);
  }

  #makerFilled(fill: Fill): void {
    const id = orderIdFromBytes(fill.makerOrderId);
    const maker = this.orders.get(id);
    if (maker === undefined) {
      this.#broken(`F2 maker ${id} was never placed`);
      return;
    }
    maker.restingMicro -= fill.sizeMicro;
    add(this.#resting, fill.market, -fill.sizeMicro);
    if (maker.restingMicro !== fill.makerRestMicro) this.#broken(`F2 ${id} rests wrongly`);
    if (maker.restingMicro < 0) this.#broken(`F2 ${id} is filled beyond its size`);
    this.#ended(id, maker);
  }

  #canceled(event: EventOf<'OrderCanceled'>): void {
    const id = orderIdFromBytes(event.orderId);
    const order = this.orders.get(id);
    if (order === undefined || order.restingMicro !== event.restMicro) {
      this.#broken(`L1 cancel of ${id} does not fit what rests`);
      return;
    }
    add(this.#resting, event.market, -order.restingMicro);
    order.restingMicro = 0;
    this.#ended(id, order);
  }

  #ended(id: string, { restingMicro }: AuditedOrder): void {
    if (restingMicro === 0 && !this.#keepsEnded) this.orders.delete(id);
  }

  #moved(event: EventOf<'PositionMoved'>): void {
    const payout0 = this.payouts.get(event.market);
    if (event.action === 'REDEEM' && payout0 === undefined)
      this.#broken(`C1 market ${event.market} is redeemed before it is resolved`);
    this.totals.applyMove(event, payout0 ?? 0, this.#source);
  }

  #level({ market, side, price, sizeMicro }: EventOf<'LevelChanged'>): void {
    const before = this.#levelsOf(market).set(side, price, sizeMicro);
    add(this.#shown, market, sizeMicro - before);
  }

  #levelsOf(market: number): BookLevels {
    const known = this.levels.get(market);
    if (known !== undefined) return known;
    const fresh = new BookLevels();
    this.levels.set(market, fresh);
    return fresh;
  }

  /**
   * F2: after every record the levels of a market add up to its resting orders, and its best prices are those of the
   * levels.
   */
  #checkBooks(execution: Execution): void {
    const touched = new Set<number>();
    for (const event of execution.events) {
      if ('market' in event && event.kind !== 'OrderRefused') touched.add(event.market);
    }
    for (const market of touched) {
      const resting = this.#resting.get(market) ?? 0;
      const shown = this.#shown.get(market) ?? 0;
      if (resting !== shown) {
        this.#broken(
          `F2 market ${market} at ${execution.inOffset}: levels ${shown}, orders ${resting}`,
        );
      }
      const wrong = this.levels.get(market)?.wrongTop() ?? null;
      if (wrong !== null) this.#broken(`F2 market ${market} at ${execution.inOffset}: ${wrong}`);
    }
  }

  #broken(rule: string): void {
    if (this.violations.length < violationsMax) this.violations.push(rule);
  }
}

/** More lines would say nothing new. */
const violationsMax = 50;
