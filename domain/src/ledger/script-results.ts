import { assert } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { WalletAddress } from '@pm/schemas/ids';
import type {
  AppliedTransfer,
  ApplyResult,
  LedgerTopic,
  MarketBreach,
  UnpaidWithdrawal,
  VoidWithdrawal,
} from './ledger.ts';

/** Result of the two applying scripts. */
export type ScriptResult = readonly [
  answer: 'applied' | 'repeated' | 'gap' | 'overflow' | 'restoring',
  mark: string,
  ...rest: readonly string[],
];

/** The records that a script call applies. */
export interface Span {
  readonly topic: LedgerTopic;
  readonly partition: number;
  readonly fromOffset: number;
  readonly toOffset: number;
}

/**
 * The outcome of an applying script. Throws `ledger_gap` (release), `ledger_restoring` (release) while another process
 * writes an image, or `ledger_overflow` (stop).
 */
export function outcomeOf([answer, mark]: ScriptResult, span: Span): ApplyResult {
  if (answer === 'applied' || answer === 'repeated') return answer;
  const facts = { ...span, mark: Number(mark) };
  if (answer === 'restoring') throw new Fault('ledger_restoring', 'release', { facts });
  if (answer === 'gap') throw new Fault('ledger_gap', 'release', { facts });
  throw new Fault('ledger_overflow', 'stop', { facts });
}

/** An entry of the applied transfers: "wallet amount moved". */
export function readApplied(entry: string): AppliedTransfer {
  const [wallet = '', amount = '', moved = ''] = entry.split(' ');
  const [amountMicro, movedMicro] = [exactNumber(amount), exactNumber(moved)];
  return { wallet: wallet as WalletAddress, amountMicro, movedMicro };
}

/** The withdrawals that were not paid in full, as the script lists them: transfer id, wallet, amount, moved. */
export function readUnpaid(texts: readonly string[]) {
  const unpaid: UnpaidWithdrawal[] = [];
  const voided: VoidWithdrawal[] = [];
  for (let at = 0; at < texts.length; at += 4) {
    const [transferId = '', wallet = '', amount = '', moved = ''] = texts.slice(at, at + 4);
    const one = { transferId, wallet: wallet as WalletAddress, amountMicro: exactNumber(amount) };
    if (moved === 'void') voided.push(one);
    else unpaid.push({ ...one, movedMicro: exactNumber(moved) });
  }
  return { unpaid, voided };
}

/** An entry of the breaches: "gap0 gap1 place wallets". */
export function readBreach(market: string, entry: string): MarketBreach {
  const [gap0 = '', gap1 = '', place = '', wallets = ''] = entry.split(' ');
  const suspects = wallets === '' ? [] : (wallets.split(',') as WalletAddress[]);
  const gaps = { gap0Micro: exactNumber(gap0), gap1Micro: exactNumber(gap1) };
  return { market, ...gaps, place, suspects, entry };
}

/** Asserts that a piece has at least one record. */
export function assertSpan({
  fromOffset,
  toOffset,
}: {
  fromOffset: number;
  toOffset: number;
}): void {
  const sound = isAmount(fromOffset) && isAmount(toOffset) && fromOffset < toOffset;
  assert(sound, 'a piece of a log has a beginning before its end');
}

/** Whether a number is an amount or offset: whole, exact, not negative. */
export function isAmount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** A number as Redis returns it; 0 for a missing one. Throws `ledger_overflow` (stop) beyond 2^53. */
export function exactNumber(text: string | null): number {
  const value = Number(text ?? '0');
  if (!Number.isSafeInteger(value)) throw new Fault('ledger_overflow', 'stop');
  return value;
}
