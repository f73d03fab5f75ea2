import { ExchangeError } from '../errors.ts';

/** The part of the WebSocket interface that browsers, Node 22 and the package `ws` share. */
interface WebSocketLike {
  send(text: string): void;
  close(): void;
  /** Method of the package `ws`: ends without waiting for the other side. */
  terminate?(): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { code: number; reason: string }) => void,
  ): void;
}

type WebSocketConstructor = new (url: string) => WebSocketLike;

export interface SocketHandlers {
  readonly onText: (text: string) => void;
  /** Called once, unless `drop` was called before. `code` 1006: without a close frame. */
  readonly onClose: (code: number, reason: string) => void;
}

/** An open socket. */
export interface Socket {
  /** Passes on everything from the opening on. Called once. */
  listen(handlers: SocketHandlers): void;
  /** Does nothing on a socket that has ended. */
  send(text: string): void;
  /** Ends it; no handler is called any more. */
  drop(): void;
}

/** The global one (browsers, Node 22 and later), else that of the package `ws`. */
async function webSocketConstructor(): Promise<WebSocketConstructor> {
  const { WebSocket: global } = globalThis as { WebSocket?: WebSocketConstructor };
  if (global !== undefined) return global;
  const { WebSocket } = await import('ws');
  return WebSocket as unknown as WebSocketConstructor;
}

/** Resolves with an open socket. Throws `ExchangeError` with the code `no_answer` when it does not open in time. */
export async function openSocket(url: string, timeoutMs: number): Promise<Socket> {
  const Constructor = await webSocketConstructor();
  const socket = new OpeningSocket(new Constructor(url));
  await new Promise<void>((opened, failed) => {
    const timer = setTimeout(() => socket.onClosed(1006, 'it did not open in time'), timeoutMs);
    socket.onOpened = () => {
      clearTimeout(timer);
      opened();
    };
    socket.onClosed = (code, reason) => {
      clearTimeout(timer);
      socket.drop();
      const error = `no stream at ${url}: ${code} ${reason}`;
      failed(new ExchangeError(0, { error, code: 'no_answer' }));
    };
  });
  return socket;
}

/** Keeps what arrives before its handlers are known. */
class OpeningSocket implements Socket {
  readonly #raw: WebSocketLike;
  readonly #early: string[] = [];
  #handlers: SocketHandlers | null = null;
  #isActive = true;
  onOpened: () => void = () => undefined;
  onClosed: (code: number, reason: string) => void = () => undefined;

  constructor(raw: WebSocketLike) {
    this.#raw = raw;
    raw.addEventListener('open', () => this.onOpened());
    // An error is always followed by the end of the socket.
    raw.addEventListener('error', () => undefined);
    raw.addEventListener('message', ({ data }) => {
      if (!this.#isActive || typeof data !== 'string') return;
      if (this.#handlers === null) this.#early.push(data);
      else this.#handlers.onText(data);
    });
    raw.addEventListener('close', ({ code, reason }) => {
      if (!this.#isActive) return;
      this.#isActive = false;
      this.onClosed(code, reason);
    });
  }

  listen(handlers: SocketHandlers): void {
    this.#handlers = handlers;
    this.onClosed = handlers.onClose;
    for (const text of this.#early.splice(0)) {
      if (this.#isActive) handlers.onText(text);
    }
    if (!this.#isActive) handlers.onClose(1006, '');
  }

  send(text: string): void {
    if (this.#isActive) this.#raw.send(text);
  }

  drop(): void {
    this.#isActive = false;
    if (this.#raw.terminate === undefined) this.#raw.close();
    else this.#raw.terminate();
  }
}
