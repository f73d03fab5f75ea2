/** Connections with the same frames. */
export interface ReaderGroup {
  readonly count: number;
  /** Subscriptions of each, with one snapshot each where it reads. */
  readonly keys: number;
  /** Frames of each connection, in the order of the connections; none for a server that needs none. */
  readonly frames: readonly (readonly object[])[];
  /** False: nothing is read once it is subscribed. */
  readonly reads: boolean;
}

export interface ReadersJob {
  readonly url: string;
  readonly groups: readonly ReaderGroup[];
  /** Connections that share an address: each address may have only so many. */
  readonly perAddress: number;
  /** The end: so many seconds, or so many messages at each connection within these seconds. */
  readonly seconds: number;
  readonly messages: number | null;
  /** Whether the messages of the first connection are returned. */
  readonly keepsTexts: boolean;
}

export interface ReadersInfo {
  /** From the first connection until the last one is subscribed to everything. */
  readonly subscribedMs: number;
}

export interface ReadersResult {
  /** After the snapshots, all connections together. */
  readonly messages: number;
  /** Fewest and most of one connection that reads. */
  readonly fewest: number;
  readonly most: number;
  /** For each connection that reads, the longest time without a heartbeat, milliseconds. */
  readonly gapsMs: readonly number[];
  /** Connections that were closed, by their code. */
  readonly closed: Readonly<Record<string, number>>;
  /** Connections that were opened again, because the first try failed. */
  readonly retries: number;
  readonly texts: readonly string[];
}
