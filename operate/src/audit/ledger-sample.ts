import type { ClickHouse } from '@pm/kit/clickhouse';
import { Random } from '@pm/kit/random';
import { workedQueries } from '@pm/schemas/tables/worked-queries';
import type { Mismatch } from './compare-redis.ts';
import { tokenKey } from './fill-totals.ts';
import type { Position, Positions } from './positions.ts';

/** Wallets whose ledger is folded: each is one statement over its whole history. */
const sampledWallets = 20;

/** A sample as text; the same seed chooses the same wallets. */
export function sampleText({ wallets }: Pick<Positions, 'wallets'>, seed: number): string {
  return `${Math.min(sampledWallets, wallets.length)} wallets, --seed ${seed}`;
}

interface LedgerRow {
  readonly market: number;
  readonly outcome: number;
  readonly size_micro: string;
  readonly cost_micro: string;
  readonly bought_micro: string;
  readonly realized_micro: string;
}

/**
 * P1: PnL by the documented query over the ledger ("Positions of a wallet out of the ledger", queries.md) equals that
 * of the log, to the micro-unit, for wallets chosen by `seed`.
 */
export async function compareLedgerQuery(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  positions: Positions,
  seed: number,
): Promise<Mismatch[]> {
  const sql = workedQueries.find(({ name }) => name === 'ledgerPnl')?.sql ?? '';
  const wrong: Mismatch[] = [];
  for (const wallet of sampleOf(positions.wallets, seed)) {
    const rows = await clickhouse.selectRows<LedgerRow>(sql, { wallet });
    const found = new Map(rows.map((row) => [tokenKey({ wallet, ...row }), figuresOf(row)]));
    const owed = new Map([...positions.of(wallet)].map((one) => [tokenKey(one), owedOf(one)]));
    for (const key of new Set([...found.keys(), ...owed.keys()])) {
      const [one, other] = [found.get(key) ?? 'nothing', owed.get(key) ?? 'nothing'];
      if (one !== other)
        wrong.push({ about: key, text: `P1 ledger query, ${key}: ${one} instead of ${other}` });
    }
  }
  return wrong;
}

function sampleOf(all: readonly string[], seed: number): readonly string[] {
  const random = new Random(seed);
  const wallets = [...all];
  const sample: string[] = [];
  while (sample.length < sampledWallets && wallets.length > 0) {
    const index = random.below(wallets.length);
    sample.push(wallets[index] ?? '');
    wallets[index] = wallets.at(-1) ?? '';
    wallets.pop();
  }
  return sample;
}

function figuresOf(row: LedgerRow): string {
  return [row.size_micro, row.cost_micro, row.bought_micro, row.realized_micro].join(' ');
}

function owedOf({ sizeMicro, costMicro, boughtMicro, realizedMicro }: Position): string {
  return [sizeMicro, costMicro, boughtMicro, realizedMicro].join(' ');
}
