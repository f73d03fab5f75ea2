/** How something that several users share is opened and closed. */
interface SharedOptions<T> {
  /** Leaves nothing open when it rejects. */
  open(): Promise<T>;
  close(shared: T): Promise<void>;
  /** How long it stays open without a user, milliseconds: the next one may come at once. */
  readonly lingerMs?: number;
}

/** Opened by its first user and closed after the last one. */
export class Shared<T> {
  readonly #options: SharedOptions<T>;
  #opening: Promise<T> | null = null;
  #users = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SharedOptions<T>) {
    this.#options = options;
  }

  /** Open; each call needs one `leave`, also when it rejects. */
  async join(): Promise<T> {
    this.#users += 1;
    clearTimeout(this.#timer);
    const opening = this.#opening ?? this.#options.open();
    this.#opening = opening;
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = null;
      throw error;
    }
  }

  async leave(): Promise<void> {
    this.#users -= 1;
    const { lingerMs = 0 } = this.#options;
    if (this.#users > 0) return;
    if (lingerMs === 0) await this.closeUnused();
    else this.#timer = setTimeout(() => void this.closeUnused(), lingerMs);
  }

  /** Without waiting for a next user. */
  async closeUnused(): Promise<void> {
    if (this.#users > 0) return;
    clearTimeout(this.#timer);
    const opening = this.#opening;
    this.#opening = null;
    await opening?.then((shared) => this.#options.close(shared)).catch(() => {});
  }
}
