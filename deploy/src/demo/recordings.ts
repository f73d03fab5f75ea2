import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { deployRoot } from '../local/paths.ts';

/** Rows of the recorded files (deploy/data/README.md), as they are. */
export interface RecordedMarket {
  readonly slug: string;
  readonly category: string;
  readonly question: string;
}

export interface RecordedQuote {
  readonly timeMs: number;
  readonly slug: string;
  /** USDC; null when that side had no quote. */
  readonly bid: string | null;
  readonly ask: string | null;
}

export interface RecordedTrade {
  readonly timeMs: number;
  readonly question: string;
  /** Empty when the recording has none. */
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 0 | 1;
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
  readonly size: number;
  readonly trader: string;
}

type Row = Readonly<Record<string, string>>;

function rowsOf(file: string): Row[] {
  const packed = readFileSync(join(deployRoot, 'data', file));
  return parse(gunzipSync(packed), { columns: true, skip_empty_lines: true });
}

const cell = (row: Row, name: string): string => row[name] ?? '';

export function recordedMarkets(): RecordedMarket[] {
  return rowsOf('quotes-2026-08-01-markets.csv.gz').map((row) => ({
    slug: cell(row, 'slug'),
    category: cell(row, 'category'),
    question: cell(row, 'question'),
  }));
}

let quotes: readonly RecordedQuote[] | null = null;

/** Two hundred thousand rows: read once and cached. */
export function recordedQuotes(): readonly RecordedQuote[] {
  quotes ??= rowsOf('quotes-2026-08-01.csv.gz').map((row) => ({
    timeMs: Date.parse(cell(row, 'time')),
    slug: cell(row, 'slug'),
    bid: cell(row, 'bid') || null,
    ask: cell(row, 'ask') || null,
  }));
  return quotes;
}

export const fedEvent = {
  slug: 'fed-decision-in-march-885',
  title: 'Fed decision in March?',
} as const;

export function recordedTrades(): RecordedTrade[] {
  return rowsOf('trades-fed-march-2026-a.csv.gz').map((row) => ({
    timeMs: Date.parse(cell(row, 'time')),
    question: cell(row, 'question'),
    conditionId: cell(row, 'condition_id'),
    tokenId: cell(row, 'token_id'),
    outcome: cell(row, 'outcome_index') === '0' ? 0 : 1,
    side: cell(row, 'side') === 'SELL' ? 'SELL' : 'BUY',
    price: Number(cell(row, 'price')),
    size: Number(cell(row, 'size')),
    trader: cell(row, 'user_name'),
  }));
}
