import { unitsOf } from '@pm/domain/books/quote';
import type { Market, Outcome } from '@pm/domain/markets/market';
import { type AssetForm, assetId } from '@pm/domain/positions/positions';
import { readMicro } from '@pm/domain/positions/positions-query';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import type { Profiles } from '@pm/domain/social/profiles';
import { assert } from '@pm/kit/assert';
import { type ConditionId, parseConditionId } from '@pm/schemas/ids';

export interface HoldersQuery {
  readonly conditions: readonly ConditionId[];
  readonly limit: number;
  readonly minBalanceMicro: number;
}

/** One wallet's balance of one token. */
export interface HolderRow {
  readonly market: number;
  readonly outcome: Outcome;
  /** Lower case. */
  readonly wallet: string;
  readonly sizeMicro: number;
}

/** Holders of a token, as published for GET /holders. */
export const holdersMax = 500;
const holdersDefault = 100;
/**
 * Markets of one request: one statement reads and sorts all holders of all of them, and an answer has at most 50,000.
 */
export const holderMarketsMax = 50;

/** The parameters of GET /holders, or why not. */
export function readHoldersQuery(query: RawQuery, strict: boolean): HoldersQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(['market', 'limit', 'minBalance']);
  const conditions = read.list('market', holderMarketsMax, parseConditionId);
  if (conditions === null || conditions.length === 0) read.missing('market');
  const limit = read.integer('limit', { min: 0, max: holdersMax, otherwise: holdersDefault });
  const minBalanceMicro = readMicro(read, 'minBalance', '1');
  return read.refusal ?? { conditions: [...new Set(conditions ?? [])], limit, minBalanceMicro };
}

/** Inputs of the text of a holder besides its row: form of the token ids, and profiles. */
export interface HolderFrame {
  readonly form: AssetForm;
  readonly profiles: Pick<Profiles, 'of' | 'version'>;
}

/** Holders as JSON, written once for rows that are kept and profiles that have not changed. */
export class HolderTexts {
  #version = -1;
  #written: Readonly<Record<AssetForm, WeakMap<HolderRow, string>>> = nothingWritten();

  /** One group per token of each market, in the requested order; rows come sorted by amount (conventions.md 6.3). */
  groups(markets: readonly Market[], rows: readonly HolderRow[], frame: HolderFrame): string {
    if (this.#version !== frame.profiles.version) {
      this.#version = frame.profiles.version;
      this.#written = nothingWritten();
    }
    const byToken = new Map<number, string>();
    for (const row of rows) {
      const place = 2 * row.market + row.outcome;
      const before = byToken.get(place);
      const text = this.#textOf(row, markets, frame);
      byToken.set(place, before === undefined ? text : `${before},${text}`);
    }
    const groups = markets.flatMap((market) =>
      ([0, 1] as const).map((outcome) => {
        const holders = byToken.get(2 * market.market + outcome) ?? '';
        return `{"token":"${assetId(market, outcome, frame.form)}","holders":[${holders}]}`;
      }),
    );
    return `[${groups.join(',')}]`;
  }

  #textOf(row: HolderRow, markets: readonly Market[], { form, profiles }: HolderFrame): string {
    const known = this.#written[form].get(row);
    if (known !== undefined) return known;
    const market = markets.find((one) => one.market === row.market);
    assert(market !== undefined, 'holders are of the requested markets');
    const asset = assetId(market, row.outcome, form);
    const text = JSON.stringify({ ...profiles.of(row.wallet), ...holding(row, asset) });
    this.#written[form].set(row, text);
    return text;
  }
}

function nothingWritten(): Record<AssetForm, WeakMap<HolderRow, string>> {
  return { indexed: new WeakMap(), numeric: new WeakMap() };
}

function holding(row: HolderRow, asset: string) {
  return {
    asset,
    amount: unitsOf(row.sizeMicro),
    outcomeIndex: row.outcome,
    profileImageOptimized: '',
  };
}
