import { parseMicro, parsePrice } from '@pm/schemas/decimal';
import { feeMicro, lotMicro, notionalMicro } from '@pm/schemas/money';
import type { Book, Level } from '../market/ladder.ts';

export type OrderKind = 'GTC' | 'GTD' | 'FOK' | 'FAK';

/** The ticket as it is typed. */
export interface Ticket {
  readonly side: 'BUY' | 'SELL';
  readonly kind: OrderKind;
  /** Cents. */
  readonly price: string;
  /** Shares. */
  readonly size: string;
  readonly postOnly: boolean;
  /** Minutes from now, of GTD. */
  readonly minutes: string;
}

/** The rules of a market that a ticket is checked against. */
export interface TicketRules {
  /** USDC. */
  readonly tick: string;
  /** Shares. */
  readonly minSize: number;
  readonly feeRateBps: number;
}

/** A ticket that can be sent; prices and sizes are decimal text. */
export interface ReadyTicket {
  readonly price: string;
  readonly size: string;
}

/** A GTD order lives at least this long, minutes (conventions.md 3.5: a minute, and time to sign). */
const minutesMin = 2;
const minutesMax = 60 * 24 * 90;

/** The ticket in decimal text, or the first thing that is wrong with it. */
export function readTicket(
  ticket: Ticket,
  rules: TicketRules,
): ReadyTicket | { readonly error: string } {
  const price = decimalOfCents(ticket.price);
  const parsed = price === null ? null : parsePrice(price);
  if (price === null || parsed === null || parsed <= 0 || parsed >= 10_000) {
    return { error: 'The price is between 0 and 100 cents.' };
  }
  const tick = parsePrice(rules.tick) ?? 1;
  if (parsed % tick !== 0)
    return { error: `The price is a multiple of ${Number(rules.tick) * 100}¢.` };
  const size = parseMicro(ticket.size.trim());
  if (size === null || size <= 0 || size % lotMicro !== 0) {
    return { error: 'The size is in whole hundredths of a share.' };
  }
  if (Number(ticket.size) < rules.minSize) return { error: `At least ${rules.minSize} shares.` };
  const minutes = Number(ticket.minutes);
  if (ticket.kind === 'GTD' && !(minutes >= minutesMin && minutes <= minutesMax)) {
    return { error: `At least ${minutesMin} minutes from now.` };
  }
  return { price, size: ticket.size.trim() };
}

/** "52.5" cents as "0.525"; null when it is no such number. */
export function decimalOfCents(text: string): string | null {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (match === null) return null;
  const [, units = '', rest = ''] = match;
  const digits = units.padStart(3, '0') + rest.padEnd(2, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/0+$/, '').replace(/\.$/, '.0');
}

/** Expected fills and cost of an order with the current book. Amounts in USDC. */
export interface Preview {
  /** Shares that trade at once, at these levels. */
  readonly filled: number;
  readonly averagePrice: number | null;
  /** USDC paid for (BUY) or received (SELL) by what trades at once, without the fee. */
  readonly filledCost: number;
  readonly fee: number;
  /** Shares that would rest, or be canceled for FAK; for FOK all or nothing. */
  readonly rest: number;
  /** USDC held while the rest waits (BUY). */
  readonly restCost: number;
  /** Expected result of the order, in one sentence. */
  readonly outcome: string;
}

/** Walks the other side of the book through the limit. */
export function previewOf(
  ready: ReadyTicket,
  ticket: Ticket,
  rules: TicketRules,
  book: Book,
): Preview {
  const limit = parsePrice(ready.price) ?? 0;
  const wanted = parseMicro(ready.size) ?? 0;
  const levels = ticket.side === 'BUY' ? book.asks : book.bids;
  const met = meet(levels, wanted, (price) =>
    ticket.side === 'BUY' ? price <= limit : price >= limit,
  );
  const isKilled = ticket.kind === 'FOK' && met.sizeMicro < wanted;
  const isRefused = ticket.postOnly && met.sizeMicro > 0;
  const filled = isKilled || isRefused ? [] : met.fills;
  const filledMicro = filled.reduce((sum, one) => sum + one.sizeMicro, 0);
  const costMicro = filled.reduce((sum, one) => sum + notionalMicro(one.price, one.sizeMicro), 0);
  const fee = filled.reduce(
    (sum, one) => sum + feeMicro(one.price, one.sizeMicro, rules.feeRateBps),
    0,
  );
  const restMicro = isRefused ? 0 : wanted - filledMicro;
  const rests = ticket.kind === 'GTC' || ticket.kind === 'GTD';
  return {
    filled: filledMicro / 1e6,
    averagePrice: filledMicro === 0 ? null : costMicro / filledMicro,
    filledCost: costMicro / 1e6,
    fee: fee / 1e6,
    rest: restMicro / 1e6,
    restCost: rests && ticket.side === 'BUY' ? notionalMicro(limit, restMicro) / 1e6 : 0,
    outcome: outcomeOf({ isKilled, isRefused, rests, filledMicro, restMicro }),
  };
}

function meet(levels: readonly Level[], wanted: number, isWithin: (price: number) => boolean) {
  const fills: { price: number; sizeMicro: number }[] = [];
  let left = wanted;
  for (const level of levels) {
    const price = parsePrice(level.price) ?? 0;
    if (left === 0 || !isWithin(price)) break;
    const sizeMicro = Math.min(left, parseMicro(level.size) ?? 0);
    fills.push({ price, sizeMicro });
    left -= sizeMicro;
  }
  return { fills, sizeMicro: wanted - left };
}

function outcomeOf(facts: {
  readonly isKilled: boolean;
  readonly isRefused: boolean;
  readonly rests: boolean;
  readonly filledMicro: number;
  readonly restMicro: number;
}): string {
  if (facts.isRefused) return 'Refused: a post-only order may not trade at once.';
  if (facts.isKilled) return 'Canceled: the book cannot fill it whole.';
  if (facts.restMicro === 0) return 'Trades whole at once.';
  const part = facts.filledMicro === 0 ? '' : 'Trades in part; ';
  const rest = facts.rests ? 'the rest waits in the book.' : 'the rest is canceled.';
  return part === ''
    ? facts.rests
      ? 'Waits in the book.'
      : 'Canceled: no level within the limit.'
    : part + rest;
}
