import type { DataFrame, StateFrame } from './frames.ts';
import type { FrameReader } from './subscription.ts';

/** Gives every message to the consumer, in order. */
export class MessageReader<Event> implements FrameReader<Event> {
  readonly #waiting: (DataFrame | StateFrame)[] = [];
  readonly #withSnapshots: boolean;

  /** Snapshots of channels without a state are empty and are left out. */
  constructor({ withSnapshots }: { readonly withSnapshots: boolean }) {
    this.#withSnapshots = withSnapshots;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  snapshot(frame: DataFrame, isGap: boolean): void {
    if (this.#withSnapshots) this.#waiting.push(isGap ? { ...frame, gap: true } : frame);
  }

  message(frame: DataFrame | StateFrame): void {
    this.#waiting.push(frame);
  }

  checksum(): boolean {
    return true;
  }

  shift(): Event | undefined {
    return this.#waiting.shift() as Event | undefined;
  }
}
