import type { NumberedExecution } from '@pm/domain/executions/execution-order';
import type { MarketChange } from '@pm/domain/ledger/ledger';
import {
  type OrderId,
  orderIdFromBytes,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { RefusalCode } from '@pm/schemas/refusals';
import { MarketSums } from './market-sums.ts';

/** The effect of consecutive records on money. */
export interface MoneyPiece {
  readonly fromOffset: number;
  readonly toOffset: number;
  /** Clock at the last record, Unix milliseconds; `null` when all of them were repetitions. */
  readonly clockMs: number | null;
  /** Orders and requests whose reservation the records end. */
  readonly answered: readonly OrderId[];
  readonly moves: readonly MoneyMove[];
  /** One change for each market, and for money that no market accounts for. */
  readonly markets: readonly MarketChange[];
  /** The newest ledger generation that begins in them; 0 when none does. */
  readonly generation: number;
}

export interface MoneyMove {
  readonly wallet: WalletAddress;
  readonly freeMicro: number;
  readonly heldMicro: number;
}

interface Open {
  fromOffset: number;
  toOffset: number;
  clockMs: number | null;
  answered: OrderId[];
  moves: MoneyMove[];
  readonly sums: MarketSums;
  generation: number;
}

/**
 * Cuts records into pieces of at most `itemsMax` answers and moves. A record beyond the limit is a piece of its own,
 * whatever its neighbours are: the ledger applies such a record in parts, and it must be cut the same way after a
 * crash.
 */
export function moneyPieces(
  records: readonly NumberedExecution[],
  itemsMax: number,
): readonly MoneyPiece[] {
  const pieces: Open[] = [];
  for (const { offset, execution } of records) {
    const events = execution?.events ?? [];
    const answered = events.flatMap(answerOf);
    const moves = events.flatMap(moveOf);
    const generation = Math.max(0, ...events.flatMap(generationOf));
    const open = pieces.at(-1);
    const items = answered.length + moves.length;
    if (open !== undefined && open.answered.length + open.moves.length + items <= itemsMax) {
      open.toOffset = offset + 1;
      open.clockMs = execution?.timeMs ?? open.clockMs;
      open.answered.push(...answered);
      open.moves.push(...moves);
      open.sums.add(events);
      open.generation = Math.max(open.generation, generation);
      continue;
    }
    const clockMs = execution?.timeMs ?? null;
    const sums = new MarketSums();
    sums.add(events);
    const span = { fromOffset: offset, toOffset: offset + 1 };
    pieces.push({ ...span, clockMs, answered, moves, sums, generation });
  }
  return pieces.map(({ sums, ...piece }) => ({ ...piece, markets: sums.changes() }));
}

/**
 * Refusals of a record whose reservation may be gone and that the matcher does not remember. They end no reservation: a
 * newer record may hold money under the same id. A hold of the old record that is left is released as an orphan.
 */
const staleRefusals: ReadonlySet<RefusalCode> = new Set(['too_late', 'old_generation']);

/**
 * The order or request whose reservation the event ends. A reservation ends with the first event of its order, and with
 * each repetition: the event says what is held from then on, also of a delayed order. The same is true of the requests
 * of splits, merges and redemptions.
 */
function answerOf(event: ExecutionEvent): readonly OrderId[] {
  switch (event.kind) {
    case 'OrderPlaced':
    case 'OrderDelayed':
    case 'OrderRepeated':
      return [orderIdFromBytes(event.orderId)];
    case 'OrderRefused':
      // The matcher remembers `too_late` of an order: no later record of it can be booked.
      return event.code === 'old_generation' ? [] : [orderIdFromBytes(event.orderId)];
    case 'PositionMoved':
      return event.requestId === null ? [] : [orderIdFromBytes(event.requestId)];
    case 'CommandRefused':
      if (event.requestId === null || staleRefusals.has(event.code)) return [];
      return [orderIdFromBytes(event.requestId)];
    default:
      return [];
  }
}

function generationOf(event: ExecutionEvent): readonly number[] {
  return event.kind === 'GenerationStarted' ? [event.generation] : [];
}

function moveOf(event: ExecutionEvent): readonly MoneyMove[] {
  if (event.kind !== 'MoneyMoved') return [];
  const { wallet, freeMicro, heldMicro } = event;
  return [{ wallet: walletFromBytes(wallet), freeMicro, heldMicro }];
}
