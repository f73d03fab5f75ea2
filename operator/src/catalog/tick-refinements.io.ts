import { refined } from '@pm/domain/catalog/market-rules';
import type { Log } from '@pm/kit/log';
import type { CatalogServices } from './matcher-market.io.ts';
import { carryOut, setMarketCommand } from './matcher-market.io.ts';

type RefinementServices = Pick<
  CatalogServices,
  'catalog' | 'clock' | 'commands' | 'locks' | 'writer'
>;

/**
 * Gives a market whose price has come near an end a finer tick: in its book first, then in the catalog. Several
 * processes may do it together: the same rules again change nothing. What fails is tried again at the market's next
 * extreme price.
 */
export class TickRefinements {
  readonly #services: RefinementServices;
  readonly #log: Log;
  /** Markets on their way; bounded by the markets there are. */
  readonly #running = new Map<number, Promise<void>>();

  constructor(services: RefinementServices, log: Log) {
    this.#services = services;
    this.#log = log;
  }

  /** The market was seen at an extreme price. */
  note(number: number): void {
    if (this.#running.has(number) || this.#finer(number) === null) return;
    const running = this.#refine(number)
      .catch((error: unknown) => {
        this.#log.warn({ market: number, err: error }, 'a tick could not be refined');
      })
      .finally(() => this.#running.delete(number));
    this.#running.set(number, running);
  }

  /** Resolves when no refinement is running. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  #finer(number: number) {
    const market = this.#services.catalog.findMarket(number);
    return market === undefined ? null : refined(market, this.#services.clock.nowMs());
  }

  async #refine(number: number): Promise<void> {
    await this.#services.locks.market(number, () => this.#refineLocked(number));
  }

  async #refineLocked(number: number): Promise<void> {
    const finer = this.#finer(number);
    if (finer === null) return;
    const { commands, writer } = this.#services;
    const command = { ...setMarketCommand(finer), tickOnly: true };
    const problem = await carryOut(commands, finer.partition, command, 'MarketSet');
    if (problem !== null) {
      this.#log.warn({ market: number, problem: problem.text }, 'a tick could not be refined');
      return;
    }
    // Another process may have changed its words or its mode meanwhile.
    const latest = this.#finer(number);
    if (latest !== null) await writer.writeEntries([latest]);
    this.#log.info({ market: number, tick: finer.tick }, 'refined the tick of a market');
  }
}

/** Markets that executions show beyond the limits of their tick, passed to a listener once there is one. */
export class ExtremePrices {
  #listener: ((market: number) => void) | null = null;

  note(market: number): void {
    this.#listener?.(market);
  }

  listen(listener: (market: number) => void): void {
    this.#listener = listener;
  }
}
