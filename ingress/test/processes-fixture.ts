import { AccountTopics } from './accounts-fixture.ts';
import { type IngressUnderTest, openIngress } from './ingress-fixture.ts';
import { OwnersTopic } from './owners-fixture.ts';

/** Ingress in several processes on the same topics. */
export class Processes {
  wallets = new OwnersTopic();
  accounts = new AccountTopics();
  readonly #ingresses: IngressUnderTest[] = [];

  /** The first process on topics that hold nothing. */
  async first(): Promise<IngressUnderTest> {
    this.wallets = new OwnersTopic();
    this.accounts = new AccountTopics();
    return await this.next();
  }

  /** One more process on the same topics; `memorySinceMs`: since when its memory of answers is complete. */
  async next(memorySinceMs = 0): Promise<IngressUnderTest> {
    const next = await openIngress(this.wallets, memorySinceMs, undefined, this.accounts);
    this.#ingresses.push(next);
    return next;
  }

  async close(): Promise<void> {
    await Promise.all(this.#ingresses.map(({ app }) => app.close()));
  }
}
