import { asItStands, type ChangedMarket, type ImportRefusal } from '@pm/domain/catalog/facts';
import type { ImportCatalog, ImportResult } from '@pm/schemas/http/operator';
import { conditionIdFromBytes, tokenIdFromBytes } from '@pm/schemas/ids';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import { refusalText } from '@pm/schemas/refusals';
import { notYet, type OperatorProblem, refused } from '../requests.io.ts';
import { type ChangeSet, changeSetOf } from './change-set.ts';
import type { CatalogServices } from './matcher-market.io.ts';
import { carryOut, setMarketCommand } from './matcher-market.io.ts';
import { eventWeight, marketWeight } from './terms.ts';
import { hasTraded } from './traded-terms.io.ts';

export type CatalogImportResult =
  | { readonly kind: 'done'; readonly result: ImportResult }
  | ({ readonly kind: 'failed'; readonly path: string } & OperatorProblem)
  | ImportRefusal;

/** Markets that are on their way at once. */
const marketsAtOnce = 200;

/**
 * Carries imports out one after the other, since each gives numbers that the next must not give. An import that broke
 * off is completed by sending it again: new markets come first in the catalog, not listed, and in `routing`, then in
 * the books, then they are listed; known ones are changed after that, and each step may be repeated. So every number
 * in the books has its facts, whatever breaks off and whatever import comes next.
 */
export class CatalogImporter {
  readonly #services: CatalogServices;

  constructor(services: CatalogServices) {
    this.#services = services;
  }

  /**
   * Imports the result of `read`, which is called when the import holds its lock; null when there is nothing to import.
   */
  run(read: () => ImportCatalog | null): Promise<CatalogImportResult | null> {
    return this.#services.locks.catalog(async () => {
      const body = read();
      return body === null ? null : await this.#import(body);
    });
  }

  async #import(body: ImportCatalog): Promise<CatalogImportResult> {
    const { catalog, partitions, keccak, clock } = this.#services;
    if (partitions.placeable.length === 0) return noPartition;
    const nowMs = clock.nowMs();
    const plan = changeSetOf(body, { catalog, partitions, nowMs, keccak });
    if (plan.kind === 'refused') return plan;
    const failure =
      this.#withoutRoom(plan) ??
      (await this.#tradedIn(plan)) ??
      (await this.#list(plan)) ??
      (await this.#change(plan));
    return failure ?? { kind: 'done', result: resultOf(plan.markets) };
  }

  /** Markets beyond those that the processes hold. One that an import has begun to list has its place. */
  #withoutRoom({ markets }: ChangeSet): CatalogImportResult | null {
    const { catalog, marketsMax } = this.#services;
    const begun = new Set(catalog.unlisted().map(({ market }) => market));
    const more = markets.filter(
      ({ change, entry }) => change === 'listed' && !begun.has(entry.market),
    );
    const first = more[Math.max(0, marketsMax - catalog.numberedCount)];
    if (first === undefined) return null;
    const facts = { markets: catalog.numberedCount, more: more.length, max: marketsMax };
    const problem = {
      ...refused(refusalText('catalog_full', facts)),
      code: 'catalog_full',
    } as const;
    return { kind: 'failed', path: `slug ${first.entry.slug}`, ...problem };
  }

  /** The first change by which a traded market would pay or cost differently: an import has no second person. */
  async #tradedIn({ markets, entries }: ChangeSet): Promise<CatalogImportResult | null> {
    const { catalog, traded } = this.#services;
    for (const { known, entry } of markets) {
      if (known === undefined || marketWeight(known, entry) === 'free') continue;
      if (await traded.isTraded(known)) return termsOfTraded(entry.slug);
    }
    for (const entry of entries) {
      if (entry.kind !== 'CatalogEvent') continue;
      const known = catalog.findEvent(entry.id);
      if (known === undefined || eventWeight(known, entry) === 'free') continue;
      if (await hasTraded(entry.id, this.#services)) return termsOfTraded(entry.slug);
    }
    return null;
  }

  /** New markets are not visible yet, so they need no locks. */
  async #list({ markets, entries }: ChangeSet): Promise<CatalogImportResult | null> {
    const { writer } = this.#services;
    const planned = markets.filter(({ change }) => change === 'listed');
    const listed = planned.map(({ entry }) => entry);
    await writer.writeEntries(listed.map((entry) => ({ ...entry, listed: false })));
    await writer.writeRoutes(listed);
    const failure = await this.#each(planned, ({ entry }) => this.#setNew(entry));
    if (failure !== null) return failure;
    await writer.writeEntries([...entries, ...listed]);
    return null;
  }

  /**
   * A book refuses a new market only when it has another one of that number, and then it does not have this one: the
   * number is left to the other, and so is an entry that another process has written for it meanwhile.
   */
  async #setNew(market: CatalogMarket): Promise<OperatorProblem | null> {
    const { catalog, writer } = this.#services;
    const problem = await this.#setMarket(market);
    const begun = catalog.findUnlisted(conditionIdFromBytes(market.conditionId));
    if (problem?.code !== undefined && begun?.market === market.market)
      await writer.deleteMarket(market.market);
    return problem;
  }

  /** A halt, a resolution or new rules that came after the change set was made must not be undone. */
  #change({ markets }: ChangeSet): Promise<CatalogImportResult | null> {
    const { catalog, locks, writer } = this.#services;
    const planned = markets.filter(({ change }) => change === 'ruled' || change === 'reworded');
    return this.#each(planned, (market) =>
      locks.market(market.entry.market, async () => {
        const latest = () => asItStands(market, catalog.findMarket(market.entry.market));
        const problem = market.change === 'ruled' ? await this.#setMarket(latest()) : null;
        if (problem === null) await writer.writeEntries([latest()]);
        return problem;
      }),
    );
  }

  /** Some at a time, up to the first ones of which one fails. */
  async #each(
    planned: readonly ChangedMarket[],
    work: (market: ChangedMarket) => Promise<OperatorProblem | null>,
  ): Promise<CatalogImportResult | null> {
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

  #setMarket(market: CatalogMarket): Promise<OperatorProblem | null> {
    const command = setMarketCommand(market);
    return carryOut(this.#services.commands, market.partition, command, 'MarketSet');
  }
}

/** Before set-up has opened the first one. */
const noPartition: CatalogImportResult = {
  kind: 'failed',
  path: 'partitions',
  ...notYet('none is opened yet'),
};

function termsOfTraded(slug: string): CatalogImportResult {
  const text = 'is traded: an import changes none of its terms';
  return { kind: 'failed', path: `slug ${slug}`, ...refused(text) };
}

function resultOf(markets: readonly ChangedMarket[]): ImportResult {
  const count = (...changes: ChangedMarket['change'][]) =>
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
