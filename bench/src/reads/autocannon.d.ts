/** The part of autocannon that is used here; it ships no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly method: 'GET' | 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    /** Sent in turn by each connection; `setupRequest` is called before each. */
    readonly requests?: readonly {
      setupRequest(request: object): object;
    }[];
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
  }
  interface Result {
    readonly requests: { readonly total: number };
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number };
    /** Seconds. */
    readonly duration: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
  }
  function autocannon(options: Options): Promise<Result>;
  export = autocannon;
}
