/** How far the tables are, as far as this process knows. */
export interface TablesState {
  /**
   * Offset of the first record of a partition that the tables may lack; null while that is not known: then nothing is
   * kept. It must belong to the `X-Complete-Through` of the same moment (`ProgressWatch`).
   */
  storedOffset(partition: number): number | null;
  /** The clock of ages. */
  monotonicMs(): number;
}

/** Where nothing is to be kept. */
export const unknownState: TablesState = { storedOffset: () => null, monotonicMs: () => 0 };
