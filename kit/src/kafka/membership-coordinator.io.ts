/**
 * Notices that another broker coordinates the group than at the join of a member: kafkajs keeps to the coordinator of
 * the join and crashes after many tries of a dead one.
 */
export class CoordinatorWatch {
  readonly #find: () => Promise<number>;
  #known: number | null = null;
  #joins = 0;
  #isLooking = false;

  /** `find` asks for the coordinator, within a limit. */
  constructor(find: () => Promise<number>) {
    this.#find = find;
  }

  /** The member has joined at the coordinator of this moment. */
  joined(): void {
    this.#joins += 1;
    this.#known = null;
  }

  /**
   * Looks for the coordinator when that can say something: while it is not known, as long as heartbeats are answered,
   * and then when they are not (`isSilent`).
   */
  async hasMoved(isSilent: boolean): Promise<boolean> {
    const known = this.#known;
    if (this.#isLooking || isSilent === (known === null)) return false;
    const joins = this.#joins;
    this.#isLooking = true;
    const found = await this.#find().catch(() => null);
    this.#isLooking = false;
    if (found === null || joins !== this.#joins) return false;
    this.#known = known ?? found;
    return found !== this.#known;
  }
}
