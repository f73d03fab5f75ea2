/** One side of a socket, on the clock of the test; `act` is the exchange. */
export class FakeSocket {
  static act: (frame: Frame, socket: FakeSocket) => void = () => undefined;
  static epoch = 'aaaaaaaaaaaaaaaa';
  static newest: FakeSocket | null = null;
  readonly #listeners = new Map<string, (event: object) => void>();

  constructor() {
    FakeSocket.newest = this;
    setTimeout(() => {
      this.#listeners.get('open')?.({});
      const partitions = [{ partition: 0, epoch: FakeSocket.epoch }];
      this.push({ type: 'welcome', stream_id: 's-1', time: Date.now(), partitions });
    }, 1);
  }

  addEventListener(type: string, listener: (event: object) => void): void {
    this.#listeners.set(type, listener);
  }

  send(text: string): void {
    FakeSocket.act(JSON.parse(text) as Frame, this);
  }

  push(frame: object): void {
    this.#listeners.get('message')?.({ data: JSON.stringify(frame) });
  }

  close(): void {
    this.#listeners.get('close')?.({ code: 1006, reason: '' });
  }
}

/** A frame of the client. */
export interface Frame {
  readonly op: string;
  readonly id: number;
  readonly markets: readonly string[];
  readonly from?: object;
}
