import type { Held } from '../src/accounts/entry-quota.io.ts';

/** A table whose free room is used up admits nobody here; others admit everyone. */
export class RoomFake {
  /** Whether all tables are full; `asked` lists the requests for all tables. */
  isFull = false;
  readonly asked: Held[] = [];

  admits = async (held: Held): Promise<boolean> => {
    this.asked.push(held);
    return !this.isFull;
  };
}
