import { AccountTopics } from './accounts-fixture.ts';
import { type Door, openDoor } from './door-fixture.ts';
import { OwnersTopic } from './owners-fixture.ts';

/** Doors of several processes on the same topics. */
export class Processes {
  wallets = new OwnersTopic();
  accounts = new AccountTopics();
  readonly #doors: Door[] = [];

  /** The first process on topics that hold nothing. */
  async first(): Promise<Door> {
    this.wallets = new OwnersTopic();
    this.accounts = new AccountTopics();
    return await this.next();
  }

  /** One more process on the same topics; `memorySinceMs`: since when its memory of answers is complete. */
  async next(memorySinceMs = 0): Promise<Door> {
    const next = await openDoor(this.wallets, memorySinceMs, undefined, this.accounts);
    this.#doors.push(next);
    return next;
  }

  async close(): Promise<void> {
    await Promise.all(this.#doors.map(({ app }) => app.close()));
  }
}
