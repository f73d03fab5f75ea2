/** The broker was not reached: nothing of the request left this process. */
export class NotReached extends Error {
  override readonly name = 'NotReached';

  constructor(cause: unknown) {
    super('the broker was not reached', { cause });
  }
}
