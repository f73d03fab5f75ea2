import {
  type CatalogMarket,
  conditionIdFromBytes,
  type ImportCatalog,
  type ImportResult,
  tokenIdFromBytes,
} from '@pm/schemas';
import { asItStands, type ImportRefusal, type PlannedMarket } from '../../core/catalog-facts.ts';
import { type CatalogPlan, planImport } from '../../core/catalog-plan.ts';
import { carryOut, setMarketCommand } from './market-rules.ts';
import type { OperatorPorts } from './ports.ts';
import type { RuleProblem } from './problem.ts';

export type ImportOutcome =
  | { readonly kind: 'done'; readonly result: ImportResult }
  | ({ readonly kind: 'failed'; readonly path: string } & RuleProblem)
  | ImportRefusal;

/** Markets that are on their way at once. */
const marketsAtOnce = 200;

/**
 * Carries imports out one after the other, since each gives numbers that the next must not give. An import that broke off
 * is completed by sending it again: new markets come first in the books, then in `routing`, then in the catalog, known ones are changed
 * behind that, and each step may be repeated.
 */
export class ImportRunner {
  readonly #ports: OperatorPorts;

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
  }

  /** Imports what `read` gives, which is asked when the import has its turn; null when that is nothing. */
  run(read: () => ImportCatalog | null): Promise<ImportOutcome | null> {
    return this.#ports.turns.catalog(async () => {
      const body = read();
      return body === null ? null : await this.#import(body);
    });
  }

  async #import(body: ImportCatalog): Promise<ImportOutcome> {
    const { catalog, partitions, keccak, clock } = this.#ports;
    const nowMs = clock.nowMs();
    const plan = planImport(body, { catalog, partitions, nowMs, keccak });
    if (plan.kind === 'refused') return plan;
    const failure = (await this.#list(plan)) ?? (await this.#change(plan));
    return failure ?? { kind: 'done', result: resultOf(plan.markets) };
  }

  /** Nobody else knows new markets, so they need no turns. */
  async #list({ markets, entries }: CatalogPlan): Promise<ImportOutcome | null> {
    const { writes } = this.#ports;
    const planned = markets.filter(({ change }) => change === 'listed');
    const failure = await this.#each(planned, ({ entry }) => this.#setMarket(entry));
    if (failure !== null) return failure;
    const listed = planned.map(({ entry }) => entry);
    await writes.writeRoutes(listed);
    await writes.writeEntries([...entries, ...listed]);
    return null;
  }

  /** A halt, a resolution or new rules that came behind the planning must not be undone. */
  #change({ markets }: CatalogPlan): Promise<ImportOutcome | null> {
    const { catalog, turns, writes } = this.#ports;
    const planned = markets.filter(({ change }) => change === 'ruled' || change === 'reworded');
    return this.#each(planned, (market) =>
      turns.market(market.entry.market, async () => {
        const latest = () => asItStands(market, catalog.findMarket(market.entry.market));
        const problem = market.change === 'ruled' ? await this.#setMarket(latest()) : null;
        if (problem === null) await writes.writeEntries([latest()]);
        return problem;
      }),
    );
  }

  /** Some at a time, up to the first ones of which one fails. */
  async #each(
    planned: readonly PlannedMarket[],
    work: (market: PlannedMarket) => Promise<RuleProblem | null>,
  ): Promise<ImportOutcome | null> {
    for (let from = 0; from < planned.length; from += marketsAtOnce) {
      const chunk = planned.slice(from, from + marketsAtOnce);
      const problems = await Promise.all(chunk.map(work));
      const index = problems.findIndex((problem) => problem !== null);
      const problem = problems[index];
      if (problem !== undefined && problem !== null) {
        return { kind: 'failed', path: `slug ${chunk[index]?.entry.slug}`, ...problem };
      }
    }
    return null;
  }

  async #setMarket(market: CatalogMarket): Promise<RuleProblem | null> {
    const { log, catalog } = this.#ports;
    const problem = await carryOut(log, market.partition, setMarketCommand(market), 'MarketSet');
    // The number stands for another market in the books, left by an import that broke off.
    if (problem?.status === 409) catalog.skipMarket(market.market);
    return problem;
  }
}

function resultOf(markets: readonly PlannedMarket[]): ImportResult {
  const count = (...changes: PlannedMarket['change'][]) =>
    markets.filter((market) => changes.includes(market.change)).length;
  return {
    created: count('listed'),
    unchanged: count('unchanged'),
    updated: count('ruled', 'reworded'),
    markets: markets.map(({ entry }) => ({
      slug: entry.slug,
      id: String(entry.market),
      conditionId: conditionIdFromBytes(entry.conditionId),
      tokenIds: [entry.token0, entry.token1].map(tokenIdFromBytes),
      partition: entry.partition,
    })),
  };
}
