import { setTimeout as sleep } from 'node:timers/promises';
import type { DrilledExchange } from './drilled-exchange.ts';

const lookEveryMs = 200;

/** Writes down what an operator sees of an exchange, from now on until the end. */
export class Watch {
  readonly #exchange: DrilledExchange;
  #isOver = false;

  constructor(exchange: DrilledExchange) {
    this.#exchange = exchange;
    exchange.said.begin();
    void this.#look();
  }

  lines(): readonly string[] {
    return this.#exchange.said.lines;
  }

  end(): void {
    this.#isOver = true;
  }

  async #look(): Promise<void> {
    const { said } = this.#exchange;
    while (!this.#isOver) {
      for (const reason of await this.#exchange.reasons()) said.note(reason);
      await sleep(lookEveryMs);
    }
  }
}
