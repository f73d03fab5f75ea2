/** Markets that executions show beyond the limits of their tick, handed to whoever acts on them once he is there. */
export class ExtremePrices {
  #listener: ((market: number) => void) | null = null;

  note(market: number): void {
    this.#listener?.(market);
  }

  listen(listener: (market: number) => void): void {
    this.#listener = listener;
  }
}
