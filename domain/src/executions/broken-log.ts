/** Thrown by a fold when the log contradicts itself; the owner of the fold halts that partition. */
export class BrokenLog extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenLog';
  }
}
