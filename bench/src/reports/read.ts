/** A read of the public reports; `index` spreads requests over wallets and markets. */
export interface Read {
  /** What is there before the request comes. */
  prepare?(): Promise<void>;
  /** Resolves to the rows of the answer. */
  run(index: number): Promise<number>;
}
