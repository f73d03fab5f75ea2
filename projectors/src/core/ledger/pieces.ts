import {
  type Execution,
  type ExecutionEvent,
  type OrderId,
  orderIdFromBytes,
  type RefusalCode,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';

/** What consecutive records mean for money. */
export interface MoneyPiece {
  readonly fromOffset: number;
  readonly toOffset: number;
  /** Clock after the last record; `null` when all of them were repetitions. */
  readonly clockMs: number | null;
  readonly answered: readonly OrderId[];
  readonly moves: readonly MoneyMove[];
  /** The newest ledger generation that begins in them; 0 when none does. */
  readonly generation: number;
}

export interface MoneyMove {
  readonly wallet: WalletAddress;
  readonly freeMicro: number;
  readonly heldMicro: number;
}

/** A record of `executions`; `null` for one that only repeats an earlier one. */
export interface NumberedExecution {
  readonly offset: number;
  readonly execution: Execution | null;
}

interface Open {
  fromOffset: number;
  toOffset: number;
  clockMs: number | null;
  answered: OrderId[];
  moves: MoneyMove[];
  generation: number;
}

/**
 * Cuts records into pieces of at most `itemsMax` answers and moves. A record beyond it stands alone, whatever is around
 * it: the ledger applies such a record in parts, and it must be cut the same way after a crash.
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
      open.generation = Math.max(open.generation, generation);
      continue;
    }
    const clockMs = execution?.timeMs ?? null;
    pieces.push({ fromOffset: offset, toOffset: offset + 1, clockMs, answered, moves, generation });
  }
  return pieces;
}

/**
 * Refusals of a record whose reservation may be gone, and that the matcher does not remember. They answer no sender: under
 * the same id a newer record may hold money by now. The hold of such a record, if it is still there, goes as an orphan.
 */
const staleRefusals: ReadonlySet<RefusalCode> = new Set(['too_late', 'old_generation']);

/**
 * Every order the log speaks about for the first time, or again, has had its reservation turned into what it says: a
 * delayed order's money is held from then on. So has every request of a split, merge or redemption.
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
