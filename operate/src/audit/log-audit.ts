import {
  complementPrice,
  type EventOf,
  type Execution,
  type ExecutionEvent,
  type Fill,
  notionalMicro,
  orderIdFromBytes,
  walletFromBytes,
} from '@pm/schemas';
import { Accounts, add, tokenKey } from './accounts.ts';
import { BookLevels } from './book-levels.ts';
import { openOrderWord } from './open-order-word.ts';
import type { LegSource } from './positions.ts';

/** An order as the log tells it. */
export interface AuditedOrder {
  readonly market: number;
  readonly wallet: string;
  /** Micro-USDC held per micro-share that rests: its limit for a BUY, nothing for a SELL; 1/10000. */
  readonly heldPrice: number;
  /** What its row of `open_orders` comes to. */
  readonly word: number;
  restingMicro: number;
}

/** What a record is besides its events: found by whoever reads the bytes. */
export interface RecordFacts {
  readonly partition: number;
  readonly chainHolds: boolean;
}

/**
 * Judges a log of executions by what it says, and by nothing the exchange itself computed: it knows the contracts only.
 * Every broken rule becomes a line in `violations`; what the log adds up to is there to be compared with the projections.
 */
export class LogAudit {
  readonly violations: string[] = [];
  readonly orders = new Map<string, AuditedOrder>();
  /** Orders that wait for the end of a taker delay: micro-USDC each holds. */
  readonly delayed = new Map<string, { readonly wallet: string; readonly heldMicro: number }>();
  readonly accounts = new Accounts();
  /** Market -> its book, in terms of token 0. */
  readonly levels = new Map<number, BookLevels>();
  /** Wallet -> what the events say of its money. */
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
  readonly #feeWallet: string;
  readonly #keepsEnded: boolean;
  readonly #nextOffset = new Map<number, number>();
  /** Where the events under way come from. */
  #source: LegSource = { partition: 0, inOffset: 0, timeMs: 0 };
  /** Takers whose fills were told and whose order was not yet: order id -> micro-shares. */
  readonly #untold = new Map<string, number>();
  /** Market -> micro-shares, by orders and by levels: equal after every record. */
  readonly #resting = new Map<number, number>();
  readonly #shown = new Map<number, number>();

  /** `keepsEnded: false` forgets orders that have left the book, so that memory follows what is alive, not the log's length. */
  constructor(feeWallet: string, { keepsEnded = true }: { readonly keepsEnded?: boolean } = {}) {
    this.#feeWallet = feeWallet;
    this.#keepsEnded = keepsEnded;
  }

  /** Input offset behind the last record of a partition. */
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
    this.#checkMarkets();
    this.#checkMoney();
    this.#checkHeld();
    for (const position of this.accounts.positions) {
      const { sizeMicro } = position;
      if (sizeMicro < 0) this.#broken(`C2 ${tokenKey(position)} holds ${sizeMicro}`);
    }
    for (const [wallet, heldMicro] of this.held) {
      if (heldMicro < 0) this.#broken(`C2 ${wallet} has ${heldMicro} held`);
    }
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
        this.#levelsOf(event.market).told = { bid: event.bid, ask: event.ask };
        break;
      case 'RecordRejected':
        this.rejectedRecords += 1;
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
    const told = this.#untold.get(id) ?? 0;
    this.#untold.delete(id);
    if (told !== event.filledMicro) {
      this.#broken(`F2 ${id} says ${event.filledMicro} filled, fills say ${told}`);
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
      word: openOrderWord(event, this.#source),
      restingMicro: event.restingMicro,
    });
    add(this.#resting, event.market, event.restingMicro);
  }

  #fill(fill: Fill): void {
    this.fills += 1;
    this.accounts.applyFill(fill, this.#feeWallet, this.#source);
    add(this.#untold, orderIdFromBytes(fill.takerOrderId), fill.sizeMicro);
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
    this.accounts.applyMove(event, payout0 ?? 0, this.#source);
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

  /** C1: both tokens of a market, and the money locked for them, are the same number. */
  #checkMarkets(): void {
    const totals = new Map<number, { first: number; second: number }>();
    for (const { market, outcome, sizeMicro } of this.accounts.positions) {
      const sums = totals.get(market) ?? { first: 0, second: 0 };
      totals.set(market, sums);
      sums[outcome === 0 ? 'first' : 'second'] += sizeMicro;
    }
    for (const market of new Set([...totals.keys(), ...this.accounts.collateral.keys()])) {
      const locked = this.accounts.collateral.get(market) ?? 0;
      const { first, second } = totals.get(market) ?? { first: 0, second: 0 };
      if (!this.#isCovered(market, { first, second, locked })) {
        this.#broken(`C1 market ${market}: ${first} / ${second} tokens, ${locked} locked`);
      }
    }
    for (const id of this.#untold.keys()) this.#broken(`F2 taker ${id} was never placed`);
  }

  /** Before resolution pairs are worth one USDC each; after it each token is worth its payout. */
  #isCovered(market: number, sums: { first: number; second: number; locked: number }): boolean {
    const payout0 = this.payouts.get(market);
    if (payout0 === undefined) return sums.first === sums.locked && sums.second === sums.locked;
    const worth =
      notionalMicro(payout0, sums.first) + notionalMicro(complementPrice(payout0), sums.second);
    return worth === sums.locked;
  }

  /** P2's source: after every record the levels of a market add up to its resting orders, and its best prices are theirs. */
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

  /** C2: what is held is what resting buys cost at their limits, and what delayed ones hold. */
  #checkHeld(): void {
    const owed = new Map<string, number>();
    for (const order of this.orders.values()) {
      add(owed, order.wallet, notionalMicro(order.heldPrice, order.restingMicro));
    }
    for (const { wallet, heldMicro } of this.delayed.values()) add(owed, wallet, heldMicro);
    for (const wallet of new Set([...owed.keys(), ...this.held.keys()])) {
      const told = this.held.get(wallet) ?? 0;
      if (told !== (owed.get(wallet) ?? 0)) {
        this.#broken(`C2 ${wallet}: ${told} held, resting buys cost ${owed.get(wallet) ?? 0}`);
      }
    }
  }

  /** C2: what the events say of each wallet's money is what its fills come to. */
  #checkMoney(): void {
    const wallets = new Set([
      ...this.free.keys(),
      ...this.held.keys(),
      ...this.accounts.money.keys(),
    ]);
    for (const wallet of wallets) {
      const told = (this.free.get(wallet) ?? 0) + (this.held.get(wallet) ?? 0);
      const owed = this.accounts.money.get(wallet) ?? 0;
      if (told !== owed) this.#broken(`C2 ${wallet}: events say ${told}, fills say ${owed}`);
    }
  }

  #broken(what: string): void {
    if (this.violations.length < violationsMax) this.violations.push(what);
  }
}

/** More than these say nothing new. */
const violationsMax = 50;
