/** Thrown by a fold when the log says something that cannot be; whoever runs the fold stops that partition. */
export class BrokenLog extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'BrokenLog';
  }
}
