import type { RunFigures } from './run.ts';

/** The sums of several runs, and what they cost. */
export class Figures {
  readonly #sums = new Map<string, number>();
  readonly #startedMs = Date.now();
  readonly #processor = process.cpuUsage();
  #runs = 0;

  add({ seed: _, trace: __, faults, codes: ___, ...counts }: RunFigures): void {
    this.#runs += 1;
    for (const [name, count] of [...Object.entries(counts), ...Object.entries(faults)])
      this.#sums.set(name, (this.#sums.get(name) ?? 0) + count);
  }

  /** One line. */
  text(): string {
    const { virtualMs = 0, ...counts } = Object.fromEntries(this.#sums);
    const { user, system } = process.cpuUsage(this.#processor);
    return JSON.stringify({
      runs: this.#runs,
      virtualMinutes: Math.round(virtualMs / 6_000) / 10,
      ...counts,
      processorSeconds: Math.round((user + system) / 1e6),
      seconds: Math.round((Date.now() - this.#startedMs) / 1_000),
    });
  }
}
