/** Cuts a byte stream into Kafka's frames: four bytes of length, then the rest. */
export class FrameReader {
  readonly #onFrame: (frame: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onFrame: (frame: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  push(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 4) {
      const length = this.#rest.readInt32BE(0) + 4;
      if (this.#rest.length < length) return;
      const frame = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      this.#onFrame(frame);
    }
  }
}
