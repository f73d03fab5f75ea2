import { walletFromBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { EventOf, Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import { complementPrice, notionalMicro } from '@pm/schemas/money';
import { TransferSums } from '../../../operate/src/audit/transfer-sums.ts';

/** A rule of money that a history has broken. */
export class BrokenMoney extends Error {}

interface Money {
  free: number;
  held: number;
}

interface MarketTotals {
  readonly tokens: [number, number];
  locked: number;
  payout0: number | null;
}

/**
 * Judges a history by plain addition, record by record in the order of their appearance in any topic: no wallet has
 * less than nothing, both tokens of a market are as many as the USDC locked for them, and all money together is what
 * was deposited less what was paid out.
 */
export class PlainLedger {
  readonly money = new Map<string, Money>();
  readonly tokens = new Map<string, number>();
  readonly markets = new Map<number, MarketTotals>();
  /** Orders that were booked or delayed and requests that were carried out, by id as hex text -> how often. */
  readonly carriedOut = new Map<string, number>();
  readonly #transfers = new TransferSums();
  readonly #feeWallet: string;
  /** Deposits less withdrawals. */
  #external = 0;

  constructor(feeWallet: string) {
    this.#feeWallet = feeWallet;
  }

  transfer(transfer: Transfer): void {
    const wallet = walletFromBytes(transfer.wallet);
    const before = this.#transfers.byWallet.get(wallet) ?? 0;
    this.#transfers.take(transfer);
    const moved = (this.#transfers.byWallet.get(wallet) ?? 0) - before;
    if (moved === 0) return;
    this.#external += moved;
    this.#move(wallet, moved, 0, 'a transfer');
    if (moved < 0) this.#count(transfer.transferId);
    this.#conserve('a transfer');
  }

  execution({ events, inOffset }: Execution, partition: number): void {
    const place = `record ${inOffset} of partition ${partition}`;
    const owed = new Map<string, number>();
    const stated = new Map<string, number>();
    const touched = new Set<number>();
    for (const event of events) this.#event(event, { owed, stated, touched, place });
    for (const wallet of new Set([...owed.keys(), ...stated.keys()])) {
      const [by, says] = [owed.get(wallet) ?? 0, stated.get(wallet) ?? 0];
      check(by === says, `${place}: ${wallet} moves ${says} by its money, ${by} by its fills`);
    }
    for (const market of touched) this.#covered(market, place);
    this.#conserve(place);
  }

  balance(wallet: string): Money {
    return this.money.get(wallet) ?? { free: 0, held: 0 };
  }

  #event(event: ExecutionEvent, record: Rec): void {
    switch (event.kind) {
      case 'Fill':
        this.#fill(event, record);
        break;
      case 'PositionMoved':
        this.#moved(event, record);
        break;
      case 'MoneyMoved': {
        const wallet = walletFromBytes(event.wallet);
        add(record.stated, wallet, event.freeMicro + event.heldMicro);
        this.#move(wallet, event.freeMicro, event.heldMicro, record.place);
        break;
      }
      case 'MarketResolved':
        this.#market(event.market).payout0 = event.payout0;
        record.touched.add(event.market);
        break;
      case 'OrderPlaced':
        // The end of a delay is not a second placement.
        if (event.command !== -1) this.#count(event.orderId);
        break;
      case 'OrderDelayed':
        this.#count(event.orderId);
        break;
      default:
        break;
    }
  }

  #fill(fill: EventOf<'Fill'>, { owed, touched, place }: Rec): void {
    const { market, sizeMicro, feeMicro } = fill;
    const [taker, maker] = [walletFromBytes(fill.taker), walletFromBytes(fill.maker)];
    const legs = [
      [taker, fill.takerOutcome, fill.takerSide, fill.takerPrice],
      [maker, fill.makerOutcome, fill.makerSide, fill.makerPrice],
    ] as const;
    let paid = 0;
    for (const [wallet, outcome, side, price] of legs) {
      const sign = side === 'BUY' ? 1 : -1;
      this.#hand({ wallet, market, outcome, change: sign * sizeMicro }, place);
      add(owed, wallet, -sign * notionalMicro(price, sizeMicro));
      paid += sign * notionalMicro(price, sizeMicro);
    }
    add(owed, taker, -feeMicro);
    add(owed, this.#feeWallet, feeMicro);
    // The amount that buyers pay beyond the proceeds of sellers is locked for the pair that a mint creates.
    this.#market(market).locked += paid;
    touched.add(market);
  }

  #moved(moved: EventOf<'PositionMoved'>, { owed, touched, place }: Rec): void {
    const { market, paidMicro, requestId } = moved;
    const wallet = walletFromBytes(moved.wallet);
    this.#hand({ wallet, market, outcome: 0, change: moved.token0Micro }, place);
    this.#hand({ wallet, market, outcome: 1, change: moved.token1Micro }, place);
    add(owed, wallet, paidMicro);
    this.#market(market).locked -= paidMicro;
    touched.add(market);
    if (requestId !== null) this.#count(requestId);
  }

  #hand(
    to: { wallet: string; market: number; outcome: number; change: number },
    place: string,
  ): void {
    const { wallet, market, outcome, change } = to;
    const key = `${wallet} ${market} ${outcome}`;
    const size = (this.tokens.get(key) ?? 0) + change;
    check(size >= 0, `${place}: ${key} has ${size} tokens`);
    this.tokens.set(key, size);
    this.#market(market).tokens[outcome === 0 ? 0 : 1] += change;
  }

  #move(wallet: string, freeMicro: number, heldMicro: number, place: string): void {
    const money = this.balance(wallet);
    const now = { free: money.free + freeMicro, held: money.held + heldMicro };
    check(now.free >= 0, `${place}: ${wallet} has ${now.free} free`);
    check(now.held >= 0, `${place}: ${wallet} has ${now.held} held`);
    this.money.set(wallet, now);
  }

  #covered(number: number, place: string): void {
    const { tokens, locked, payout0 } = this.#market(number);
    const [first, second] = tokens;
    const facts = `${place}: market ${number} has ${first} and ${second} tokens, ${locked} locked`;
    if (payout0 === null) {
      check(first === locked && second === locked, facts);
      return;
    }
    const due = notionalMicro(payout0, first) + notionalMicro(complementPrice(payout0), second);
    check(due === locked, facts);
  }

  #conserve(place: string): void {
    let inside = 0;
    for (const { free, held } of this.money.values()) inside += free + held;
    for (const { locked } of this.markets.values()) inside += locked;
    check(inside === this.#external, `${place}: ${inside} inside, ${this.#external} came in`);
  }

  #count(id: Buffer): void {
    const name = id.toString('hex');
    const times = (this.carriedOut.get(name) ?? 0) + 1;
    check(times === 1, `${name} was carried out ${times} times`);
    this.carriedOut.set(name, times);
  }

  #market(number: number): MarketTotals {
    const known = this.markets.get(number);
    if (known !== undefined) return known;
    const fresh: MarketTotals = { tokens: [0, 0], locked: 0, payout0: null };
    this.markets.set(number, fresh);
    return fresh;
  }
}

/** Sums of one record. */
interface Rec {
  /** Wallet -> micro-USDC by fills and moves. */
  readonly owed: Map<string, number>;
  /** Wallet -> micro-USDC by the money events. */
  readonly stated: Map<string, number>;
  readonly touched: Set<number>;
  readonly place: string;
}

function add(sums: Map<string, number>, key: string, change: number): void {
  sums.set(key, (sums.get(key) ?? 0) + change);
}

function check(holds: boolean, rule: string): void {
  if (!holds) throw new BrokenMoney(rule);
}
