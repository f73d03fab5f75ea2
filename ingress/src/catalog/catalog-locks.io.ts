/** Works of one name follow each other; those of other names do not wait for them. */
interface NamedTurns {
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Who may change what of the catalog. A change reads in its turn what it changes, so it starts from what the one before has written.
 * Whatever gives numbers or slugs or changes an event has the turn of the catalog; whatever changes a market has that of the market, so
 * that a halt waits for no import. Who needs both takes that of the catalog first: nobody waits in a circle. KeyedMutex are those of one
 * process (operator.md).
 */
export class CatalogLocks {
  readonly #turns: NamedTurns;

  constructor(turns: NamedTurns) {
    this.#turns = turns;
  }

  catalog<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run('catalog', work);
  }

  market<T>(market: number, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(`market:${market}`, work);
  }
}
