import type { Cluster } from 'kafkajs';

/**
 * The topics whose leaders a cluster knows. Topics that come while metadata is being read are added together after it:
 * kafkajs has them wait for each other, each for a look at the metadata of its own, and gives up on one that has waited
 * as long as a request may take. A start on a busy machine adds a dozen at once.
 */
export class TargetTopics {
  readonly #cluster: Pick<Cluster, 'addMultipleTargetTopics'>;
  #waiting = new Set<string>();
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(cluster: Pick<Cluster, 'addMultipleTargetTopics'>) {
    this.#cluster = cluster;
  }

  /** Resolves when the leaders of the topic are known. Rejects with the errors of kafkajs. */
  async add(topic: string): Promise<void> {
    this.#waiting.add(topic);
    this.#next ??= this.#begin();
    await this.#next;
  }

  async #begin(): Promise<void> {
    // Its error belongs to those who waited for it.
    await this.#current.catch(() => {});
    const topics = [...this.#waiting];
    this.#waiting = new Set();
    this.#next = null;
    this.#current = this.#cluster.addMultipleTargetTopics(topics);
    await this.#current;
  }
}
