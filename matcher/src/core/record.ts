import {
  cancelsPerRecordMax,
  fencedIdsMax,
  fencedIdsPerSignerMax,
  fencesMax,
  fillsPerOrderMax,
  fillsPerRecordMax,
  releasesPerRecordMax,
  rememberedIdsMax,
} from '@pm/schemas/log/executions';
import type { KeyRole } from '@pm/schemas/log/types';
import type { Owner } from './book/order-pool.ts';
import type { EventWriter } from './events/event-writer.ts';
import { LookAhead } from './orders/look-ahead.ts';
import { type FillFacts, ReusedTaker } from './orders/taker.ts';

/** How much one record may do. Part of the rules: another limit gives another history. */
export interface Limits {
  readonly fillsPerOrder: number;
  readonly fillsPerRecord: number;
  readonly cancelsPerRecord: number;
  readonly releasesPerRecord: number;
  readonly fences: number;
  readonly fencedIds: number;
  readonly fencedIdsPerSigner: number;
  readonly rememberedIds: number;
}

export const defaultLimits: Limits = {
  fillsPerOrder: fillsPerOrderMax,
  fillsPerRecord: fillsPerRecordMax,
  cancelsPerRecord: cancelsPerRecordMax,
  releasesPerRecord: releasesPerRecordMax,
  fences: fencesMax,
  fencedIds: fencedIdsMax,
  fencedIdsPerSigner: fencedIdsPerSignerMax,
  rememberedIds: rememberedIdsMax,
};

/** The events of one record so far, and the budgets that are left to it. */
export interface Output {
  readonly events: EventWriter;
  /** Index of the command that is being applied, -1 for changes without a command. */
  command: number;
  /** Role of the key that signed the envelope. */
  readonly role: KeyRole;
  readonly limits: Limits;
  /** The newest version of the rules that the engine knows. */
  readonly newestRules: number;
  /** Input offset of the record. */
  readonly offset: number;
  /** Resting orders that takers of this record may still meet. */
  fillsLeft: number;
  /** Orders that expiries, resolutions and `CancelOrders` of this record may still cancel. */
  cancelsLeft: number;
  /** Delayed orders that may still be released or refused with their market. */
  releasesLeft: number;
  readonly scratch: Scratch;
}

/** How many resting orders the next taker of the record may meet. */
export function interactionsMax(out: Output): number {
  return Math.min(out.limits.fillsPerOrder, out.fillsLeft);
}

/**
 * Memory that is used again for each command, so that none is allocated. It belongs to one engine: partitions of one
 * process share nothing. Nothing in it is valid after the command.
 */
export class Scratch {
  readonly taker = new ReusedTaker();
  readonly ahead = new LookAhead();
  readonly owner: { -readonly [Field in keyof Owner]: Owner[Field] } = {
    memory: -1,
    wallet: -1,
    position: -1,
    account: -1,
    builder: -1,
    expiresAtMs: 0,
  };
  readonly fill: FillFacts = { maker: -1, price: 0, lots: 0, fee: 0 };
  /** Sort keys of changed levels; grows with the largest record. */
  levelKeys = new Float64Array(1024);
  /** Changed markets by number, as slots; grows with it. */
  sortedMarkets = new Int32Array(256);
}
