import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseWalletAddress } from '@pm/schemas/ids';
import { StackError } from '../local/stack-error.ts';
import type { Operator } from './operator.ts';

/** Wallets in one request: small enough for a progress line every second or so. */
const walletsPerRequest = 500;

/** A line of a file, counted from 1: a wallet and its owner, or a problem. */
export type WalletLine =
  | { readonly line: number; readonly wallet: string; readonly owner: string }
  | { readonly line: number; readonly problem: string };

type Binding = Extract<WalletLine, { readonly wallet: string }>;

/** Counts of lines. */
export interface BindTotals {
  readonly bound: number;
  readonly already: number;
  readonly refused: number;
}

export interface BindProgress {
  /** After each request. */
  onPage(totals: BindTotals): void;
  onRefused(line: number, reason: string): void;
}

/**
 * Binds the wallets of a file in pages, each of which is durable before the next is sent. Refused lines are reported,
 * the others go on. Running an interrupted run again completes it. Throws an `OperatorRefusal`.
 */
export async function bindWallets(
  operator: Pick<Operator, 'bindWallets'>,
  lines: AsyncIterable<WalletLine>,
  progress: BindProgress,
): Promise<BindTotals> {
  const totals = { bound: 0, already: 0, refused: 0 };
  const refuse = (line: number, reason: string) => {
    totals.refused += 1;
    progress.onRefused(line, reason);
  };
  const send = async (page: readonly Binding[]) => {
    const wallets = page.map(({ wallet, owner }) => ({ wallet, owner }));
    const { results } = await operator.bindWallets(wallets);
    for (const [index, { line, wallet }] of page.entries()) {
      const one = results[index];
      if (one === undefined) throw new StackError('BAD_DESCRIPTION', 'a wallet has no result');
      const { result, error } = one;
      if (result === 'bound' || result === 'already') totals[result] += 1;
      else refuse(line, `${wallet}: ${error ?? result}`);
    }
    progress.onPage({ ...totals });
  };
  let page: Binding[] = [];
  for await (const one of lines) {
    if ('problem' in one) refuse(one.line, one.problem);
    else page.push(one);
    if (page.length < walletsPerRequest) continue;
    await send(page);
    page = [];
  }
  if (page.length > 0) await send(page);
  return totals;
}

/**
 * The lines of a file, read as they are used: JSON objects in `.ndjson` and `.jsonl`, otherwise CSV with or without a
 * header.
 */
export async function* linesOfFile(file: string): AsyncIterable<WalletLine> {
  const read = /\.(ndjson|jsonl)$/.test(file) ? readJson : readCsv;
  let line = 0;
  for await (const raw of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    line += 1;
    const text = raw.replace(/^\uFEFF/, '').trim();
    if (text === '' || (line === 1 && isHeader(text))) continue;
    yield checked(line, read(text));
  }
}

type Fields = readonly [wallet: unknown, owner: unknown] | null;

function readCsv(text: string): Fields {
  const fields = text.split(',').map((field) => field.trim().replace(/^"(.*)"$/, '$1'));
  return fields.length === 2 ? [fields[0], fields[1]] : null;
}

function isHeader(text: string): boolean {
  return text.replace(/[\s"]/g, '').toLowerCase() === 'wallet,owner';
}

function readJson(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    return [Reflect.get(value, 'wallet'), Reflect.get(value, 'owner')];
  } catch {
    return null;
  }
}

function checked(line: number, fields: Fields): WalletLine {
  if (fields === null) return { line, problem: 'is not a wallet and its owner' };
  const [wallet, owner] = fields.map((field) => parseWalletAddress(String(field)));
  if (!wallet) return { line, problem: 'the wallet is no address' };
  return owner ? { line, wallet, owner } : { line, problem: 'the owner is no address' };
}
