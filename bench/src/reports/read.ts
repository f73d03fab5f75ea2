/** A read of the public reports; `index` spreads requests over wallets and markets. */
export interface Read {
  /** Prepares the state before the request. */
  prepare?(): Promise<void>;
  /** Resolves to the rows of the response. */
  run(index: number): Promise<number>;
}
