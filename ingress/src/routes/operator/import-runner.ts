import {
  type CatalogMarket,
  conditionIdFromBytes,
  type ImportCatalog,
  type ImportResult,
  tokenIdFromBytes,
} from '@pm/schemas';
import type { ImportRefusal, PlannedMarket } from '../../core/catalog-facts.ts';
import { planImport } from '../../core/catalog-plan.ts';
import { carryOut, type RuleProblem, setMarketCommand } from './market-rules.ts';
import type { OperatorPorts } from './ports.ts';
import type { Turns } from './turns.ts';

export type ImportOutcome =
  | { readonly kind: 'done'; readonly result: ImportResult }
  | ({ readonly kind: 'failed'; readonly path: string } & RuleProblem)
  | ImportRefusal;

/** Markets whose rules are on their way at once. */
const marketsAtOnce = 200;

/**
 * Carries imports out one after the other, since each gives numbers that the next must not give. An import that broke off
 * is completed by sending it again: markets come first in the books, then in `routing`, then in the catalog, and each step
 * may be repeated.
 */
export class ImportRunner {
  readonly #ports: OperatorPorts;
  readonly #turns: Turns;

  constructor(ports: OperatorPorts, turns: Turns) {
    this.#ports = ports;
    this.#turns = turns;
  }

  run(body: ImportCatalog): Promise<ImportOutcome> {
    return this.#turns.run(() => this.#import(body));
  }

  async #import(body: ImportCatalog): Promise<ImportOutcome> {
    const { catalog, partitions, keccak, clock, writes } = this.#ports;
    const nowMs = clock.nowMs();
    const plan = planImport(body, { catalog, partitions, nowMs, keccak });
    if (plan.kind === 'refused') return plan;
    const failure = await this.#setMarkets(plan.markets);
    if (failure !== null) return failure;
    const changed = plan.markets.filter((market) => market.change !== 'unchanged');
    const listed = changed.filter((market) => market.change === 'listed');
    await writes.writeRoutes(listed.map((market) => market.entry));
    const entries = changed.map(({ entry }) => this.#asItStands(entry));
    await writes.writeEntries([...plan.entries, ...entries]);
    return { kind: 'done', result: resultOf(plan.markets) };
  }

  async #setMarkets(planned: readonly PlannedMarket[]): Promise<ImportOutcome | null> {
    const ruled = planned.filter(({ change }) => change === 'listed' || change === 'ruled');
    for (let from = 0; from < ruled.length; from += marketsAtOnce) {
      const chunk = ruled.slice(from, from + marketsAtOnce);
      const problems = await Promise.all(chunk.map(({ entry }) => this.#setMarket(entry)));
      const index = problems.findIndex((problem) => problem !== null);
      const problem = problems[index];
      if (problem !== undefined && problem !== null) {
        return { kind: 'failed', path: `slug ${chunk[index]?.entry.slug}`, ...problem };
      }
    }
    return null;
  }

  /** A halt or a resolution while an import is under way must not be undone by it. */
  #asItStands(entry: CatalogMarket): CatalogMarket {
    const known = this.#ports.catalog.findMarket(entry.market);
    if (known === undefined) return entry;
    const { active, closed, archived, mode, payout0, takerDelayMs } = known;
    // A tick that became finer meanwhile stays so.
    const tick = Math.min(entry.tick, known.tick);
    return { ...entry, active, closed, archived, mode, payout0, takerDelayMs, tick };
  }

  async #setMarket(entry: CatalogMarket): Promise<RuleProblem | null> {
    const { log, catalog } = this.#ports;
    const command = setMarketCommand(this.#asItStands(entry));
    const problem = await carryOut(log, entry.partition, command, 'MarketSet');
    // The number stands for another market in the books, left by an import that broke off.
    if (problem?.status === 409) catalog.skipMarket(entry.market);
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
