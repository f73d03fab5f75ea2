import { complementPrice, notionalMicro } from '@pm/schemas/money';
import { add, type FillTotals, tokenKey } from './fill-totals.ts';

/** The money and tokens of a log by its events, and the same by its fills and orders. */
export interface AuditedLog {
  readonly totals: FillTotals;
  /** Wallet -> its free and locked money by the events, micro-USDC. */
  readonly free: ReadonlyMap<string, number>;
  readonly held: ReadonlyMap<string, number>;
  /** Orders that rest: `heldPrice` is the micro-USDC locked per micro-share, 1/10000. */
  readonly orders: ReadonlyMap<string, RestingOrder>;
  /** Orders that wait for the end of a taker delay, with the micro-USDC that each locks. */
  readonly delayed: ReadonlyMap<string, { readonly wallet: string; readonly heldMicro: number }>;
  /** Resolved market -> what token 0 pays, 1/10000 USDC. */
  readonly payouts: ReadonlyMap<number, number>;
}

interface RestingOrder {
  readonly wallet: string;
  readonly heldPrice: number;
  readonly restingMicro: number;
}

/** The rules C1 and C2 that a log breaks, a line for each breach. */
export function moneyViolations(log: AuditedLog): readonly string[] {
  return [
    ...uncoveredMarkets(log),
    ...differingMoney(log),
    ...differingLocks(log),
    ...negativeAmounts(log),
  ];
}

/** C1: both tokens of a market, and the money locked for them, are the same number. */
function uncoveredMarkets({ totals, payouts }: AuditedLog): readonly string[] {
  const tokens = new Map<number, { first: number; second: number }>();
  for (const { market, outcome, sizeMicro } of totals.positions) {
    const sums = tokens.get(market) ?? { first: 0, second: 0 };
    tokens.set(market, sums);
    sums[outcome === 0 ? 'first' : 'second'] += sizeMicro;
  }
  return [...new Set([...tokens.keys(), ...totals.collateral.keys()])].flatMap((market) => {
    const locked = totals.collateral.get(market) ?? 0;
    const { first, second } = tokens.get(market) ?? { first: 0, second: 0 };
    if (isCovered({ first, second, locked }, payouts.get(market))) return [];
    return `C1 market ${market}: ${first} / ${second} tokens, ${locked} locked`;
  });
}

/** Before resolution pairs are worth one USDC each; after it each token is worth its payout. */
function isCovered(
  { first, second, locked }: { first: number; second: number; locked: number },
  payout0: number | undefined,
): boolean {
  if (payout0 === undefined) return first === locked && second === locked;
  return notionalMicro(payout0, first) + notionalMicro(complementPrice(payout0), second) === locked;
}

/** C2: the money of each wallet by the events equals that by its fills. */
function differingMoney({ free, held, totals }: AuditedLog): readonly string[] {
  const wallets = new Set([...free.keys(), ...held.keys(), ...totals.money.keys()]);
  return [...wallets].flatMap((wallet) => {
    const stated = (free.get(wallet) ?? 0) + (held.get(wallet) ?? 0);
    const owed = totals.money.get(wallet) ?? 0;
    return stated === owed ? [] : `C2 ${wallet}: events say ${stated}, fills say ${owed}`;
  });
}

/** C2: locked money is the cost of resting buys at their limits, and the locks of delayed orders. */
function differingLocks({ orders, delayed, held }: AuditedLog): readonly string[] {
  const costs = new Map<string, number>();
  for (const { wallet, heldPrice, restingMicro } of orders.values()) {
    add(costs, wallet, notionalMicro(heldPrice, restingMicro));
  }
  for (const { wallet, heldMicro } of delayed.values()) add(costs, wallet, heldMicro);
  return [...new Set([...costs.keys(), ...held.keys()])].flatMap((wallet) => {
    const [locked, cost] = [held.get(wallet) ?? 0, costs.get(wallet) ?? 0];
    return locked === cost ? [] : `C2 ${wallet}: ${locked} held, resting buys cost ${cost}`;
  });
}

/** C2: no wallet holds less than nothing, neither tokens nor locked money. */
function negativeAmounts({ totals, held }: AuditedLog): readonly string[] {
  const positions = [...totals.positions].filter(({ sizeMicro }) => sizeMicro < 0);
  const locks = [...held].filter(([, heldMicro]) => heldMicro < 0);
  return [
    ...positions.map((position) => `C2 ${tokenKey(position)} holds ${position.sizeMicro}`),
    ...locks.map(([wallet, heldMicro]) => `C2 ${wallet} has ${heldMicro} held`),
  ];
}
