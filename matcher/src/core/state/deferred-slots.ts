/**
 * Slots of records that were freed while another thread reads their memory: they are used again only once it does not.
 */
export class DeferredSlots {
  /** While true, a freed slot keeps its memory. */
  isFrozen = false;
  private readonly slots: number[] = [];

  /** How many are held. */
  get count(): number {
    return this.slots.length;
  }

  /** Whether the slot has to wait, and is held from here on; otherwise it is free at once. */
  hold(slot: number): boolean {
    if (this.isFrozen) this.slots.push(slot);
    return this.isFrozen;
  }

  /** A held slot that may be used again, or -1. */
  take(): number {
    return this.isFrozen || this.slots.length === 0 ? -1 : (this.slots.pop() as number);
  }
}
