import type { Held } from '../src/accounts/entry-room.io.ts';

/** A table whose free room is used up admits nobody here; others admit everyone. */
export class RoomFake {
  /** Of all tables; the asked ones with it. */
  isFull = false;
  readonly asked: Held[] = [];

  admits = async (held: Held): Promise<boolean> => {
    this.asked.push(held);
    return !this.isFull;
  };
}
