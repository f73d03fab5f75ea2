import { Fault, within } from '@pm/kit/fault';
import type { LogPlaces } from '@pm/kit/http';
import type { LogAdmin } from '@pm/kit/kafka';
import { SharedReads } from '../cache/shared-reads.io.ts';

/** A broker that has not answered by then is away, milliseconds. */
const answerTimeoutMs = 2_000;

/** How far the partitions of a topic go. Requests at the same time share a look, which is never older than they are. */
export class LogEnds {
  readonly #admin: Pick<LogAdmin, 'bounds'>;
  readonly #topic: string;
  readonly #reads = new SharedReads<LogPlaces>();

  /** `topic` is its name on the broker. */
  constructor(admin: Pick<LogAdmin, 'bounds'>, topic: string) {
    this.#admin = admin;
    this.#topic = topic;
  }

  /** The ends, not older than the call. Rejects with the `Fault` `log_unavailable` (retry). */
  read(): Promise<LogPlaces> {
    return this.#reads.read(this.#topic, () => this.#look());
  }

  async #look(): Promise<LogPlaces> {
    try {
      const bounds = await within(this.#admin.bounds(this.#topic), answerTimeoutMs, silent);
      return new Map([...bounds].map(([partition, { high }]) => [partition, high]));
    } catch (cause) {
      throw new Fault('log_unavailable', 'retry', { cause });
    }
  }
}

function silent(): Error {
  return new Error('the broker is silent');
}
