/** What a rate limit says of one request, as its response headers report it. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly limit: number;
  /** Units left in the window as far as this process knows; other processes may have used some of them. */
  readonly remaining: number;
  /** Until the window ends, whole seconds, at least 1. */
  readonly resetSeconds: number;
}
