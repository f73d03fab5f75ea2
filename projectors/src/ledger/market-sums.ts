import { type MarketChange, suspectsMax } from '@pm/domain/ledger/ledger';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { EventOf, ExecutionEvent } from '@pm/schemas/log/executions';
import { notionalMicro } from '@pm/schemas/money';

/** Sums of one market over a record. */
interface Sums {
  token0Micro: number;
  token1Micro: number;
  lockedMicro: number;
  payout0: number | null;
}

/** Sums of one market over a piece, with the wallets of its records that do not add up. */
interface PieceSums extends Sums {
  readonly wallets: Set<WalletAddress>;
}

/** The row of money that no market accounts for, among those of markets. */
const moneyRow = 'money';

/**
 * Changes that the events of records make to the sums of each market, for the solvency check. Tokens follow from the
 * sides of fills and from the moves of positions; the locked USDC is the amount that buyers pay more than sellers get;
 * money is the amount that the money events state. The matcher states the three independently of each other, so a
 * defect shows as a difference.
 */
export class MarketSums {
  readonly #piece = new Map<string, PieceSums>();

  /** Takes the events of the next record. */
  add(events: readonly ExecutionEvent[]): void {
    const record = new Map<number, Sums>();
    let money = 0;
    for (const event of events) {
      if (event.kind === 'Fill') addFill(sumsOf(record, event.market), event);
      else if (event.kind === 'PositionMoved') addMove(sumsOf(record, event.market), event);
      else if (event.kind === 'MarketResolved')
        sumsOf(record, event.market).payout0 = event.payout0;
      else if (event.kind === 'MoneyMoved') money += event.freeMicro + event.heldMicro;
    }
    for (const [market, sums] of record) {
      money += sums.lockedMicro;
      this.#addRecord(String(market), sums, () => tradersOf(events, market));
    }
    if (money === 0) return;
    const made = { token0Micro: money, token1Micro: money, lockedMicro: 0, payout0: null };
    this.#addRecord(moneyRow, made, () => moneyWalletsOf(events));
  }

  /** One change for each market, in the order of their first records. */
  changes(): readonly MarketChange[] {
    return [...this.#piece].map(([market, { wallets, ...sums }]) => {
      return { market, ...sums, suspects: [...wallets] };
    });
  }

  /** The wallets are needed only of a record that does not add up. */
  #addRecord(market: string, record: Sums, wallets: () => readonly Buffer[]): void {
    const sums = this.#sumsOf(market);
    sums.token0Micro += record.token0Micro;
    sums.token1Micro += record.token1Micro;
    sums.lockedMicro += record.lockedMicro;
    sums.payout0 = record.payout0 ?? sums.payout0;
    if (isEven(record)) return;
    for (const wallet of wallets()) {
      if (sums.wallets.size < suspectsMax) sums.wallets.add(walletFromBytes(wallet));
    }
  }

  #sumsOf(market: string): PieceSums {
    const known = this.#piece.get(market);
    if (known !== undefined) return known;
    const sums = { ...noSums, wallets: new Set<WalletAddress>() };
    this.#piece.set(market, sums);
    return sums;
  }
}

/** A record without a redemption changes all three alike; redemptions are judged by the sums. */
function isEven({ token0Micro, token1Micro, lockedMicro }: Sums): boolean {
  return token0Micro === lockedMicro && token1Micro === lockedMicro;
}

function addFill(sums: Sums, fill: EventOf<'Fill'>): void {
  const { sizeMicro } = fill;
  const takerSign = fill.takerSide === 'BUY' ? 1 : -1;
  const makerSign = fill.makerSide === 'BUY' ? 1 : -1;
  addTokens(sums, fill.takerOutcome, takerSign * sizeMicro);
  addTokens(sums, fill.makerOutcome, makerSign * sizeMicro);
  sums.lockedMicro += takerSign * notionalMicro(fill.takerPrice, sizeMicro);
  sums.lockedMicro += makerSign * notionalMicro(fill.makerPrice, sizeMicro);
}

function addMove(sums: Sums, moved: EventOf<'PositionMoved'>): void {
  sums.token0Micro += moved.token0Micro;
  sums.token1Micro += moved.token1Micro;
  sums.lockedMicro -= moved.paidMicro;
}

function addTokens(sums: Sums, outcome: number, change: number): void {
  if (outcome === 0) sums.token0Micro += change;
  else sums.token1Micro += change;
}

const noSums: Sums = { token0Micro: 0, token1Micro: 0, lockedMicro: 0, payout0: null };

function sumsOf(record: Map<number, Sums>, market: number): Sums {
  const known = record.get(market);
  if (known !== undefined) return known;
  const sums = { ...noSums };
  record.set(market, sums);
  return sums;
}

function tradersOf(events: readonly ExecutionEvent[], market: number): readonly Buffer[] {
  return events.flatMap((event) => {
    if (event.kind === 'Fill' && event.market === market) return [event.taker, event.maker];
    return event.kind === 'PositionMoved' && event.market === market ? [event.wallet] : [];
  });
}

function moneyWalletsOf(events: readonly ExecutionEvent[]): readonly Buffer[] {
  return events.flatMap((event) => (event.kind === 'MoneyMoved' ? [event.wallet] : []));
}
