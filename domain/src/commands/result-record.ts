import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import type { PlacedStatus } from '@pm/schemas/log/executions';
import { refusalCodes } from '@pm/schemas/refusals';
import type { OrderResult, TradeRef } from '../orders/order-result.ts';

/**
 * Bytes of one result:
 *
 *   0 order id | 32 filled | 40 paid | 48 offset of its trades | 56 clock of the partition | 64 first fill |
 *   68 number of fills | 72 partition | 74 kind | 75 status | 76 code | 78 whether it has ended since
 */
export const recordBytes = 80;
/** Bytes of an order id, which a record begins with. */
export const idBytes = 32;

const at = { filled: 32, paid: 40, offset: 48, clock: 56, first: 64, count: 68 } as const;
const numbers = { partition: 72, kind: 74, status: 75, code: 76, ended: 78 } as const;

const kinds = { refused: 0, buy: 1, sell: 2 } as const;
const statuses = ['LIVE', 'MATCHED', 'CANCELED', 'DELAYED'] as const satisfies PlacedStatus[];
/** Number of fills of a result whose trades have no place. */
const unplaced = 0xff_ff_ff_ff;

/** A result with its partition. */
export interface ReadResult {
  readonly result: OrderResult;
  readonly partition: number;
  /** Clock of the partition after it, Unix milliseconds. */
  readonly clockMs: number;
}

/** Writes a result into the record at `from`, after its order id. */
export function writeResult(
  bytes: Buffer,
  from: number,
  { result, partition, clockMs }: ReadResult,
): void {
  bytes.writeDoubleLE(clockMs, from + at.clock);
  bytes.writeUInt16LE(partition, from + numbers.partition);
  if (result.kind === 'refused') {
    bytes.writeUInt8(kinds.refused, from + numbers.kind);
    bytes.writeUInt16LE(refusalCodes.indexOf(result.code), from + numbers.code);
    return;
  }
  const { side, status, filledMicro, paidMicro, trades } = result;
  bytes.writeUInt8(result.ended === true ? 1 : 0, from + numbers.ended);
  bytes.writeUInt8(side === 'BUY' ? kinds.buy : kinds.sell, from + numbers.kind);
  bytes.writeUInt8(statuses.indexOf(status), from + numbers.status);
  bytes.writeDoubleLE(filledMicro, from + at.filled);
  bytes.writeDoubleLE(paidMicro, from + at.paid);
  const first = trades?.[0];
  bytes.writeDoubleLE(first?.inOffset ?? 0, from + at.offset);
  bytes.writeUInt32LE(first?.eventIndex ?? 0, from + at.first);
  const isPlaced = trades?.every((trade, index) => follows(trade, first, index, partition));
  bytes.writeUInt32LE(isPlaced === true ? (trades?.length ?? 0) : unplaced, from + at.count);
}

/** Notes that the order of the record at `from` rests no more. */
export function writeEnded(bytes: Buffer, from: number): void {
  bytes.writeUInt8(1, from + numbers.ended);
}

/** Fills of one placement follow each other directly, so the place of the first one gives all of them. */
function follows(
  trade: TradeRef,
  first: TradeRef | undefined,
  index: number,
  partition: number,
): boolean {
  if (first === undefined || trade.partition !== partition) return false;
  return trade.inOffset === first.inOffset && trade.eventIndex === first.eventIndex + index;
}

/** The result in the record at `from`. */
export function readResult(bytes: Buffer, from: number): ReadResult {
  const partition = bytes.readUInt16LE(from + numbers.partition);
  const clockMs = bytes.readDoubleLE(from + at.clock);
  const orderId = orderIdFromBytes(bytes.subarray(from, from + idBytes));
  return { result: resultIn(bytes, from, { orderId, partition }), partition, clockMs };
}

function resultIn(
  bytes: Buffer,
  from: number,
  { orderId, partition }: { readonly orderId: OrderId; readonly partition: number },
): OrderResult {
  const kind = bytes.readUInt8(from + numbers.kind);
  if (kind === kinds.refused) {
    const code = refusalCodes[bytes.readUInt16LE(from + numbers.code)] ?? 'unknown';
    return { kind: 'refused', orderId, code };
  }
  const inOffset = bytes.readDoubleLE(from + at.offset);
  const first = bytes.readUInt32LE(from + at.first);
  const length = bytes.readUInt32LE(from + at.count);
  return {
    kind: 'placed',
    orderId,
    side: kind === kinds.buy ? 'BUY' : 'SELL',
    status: statuses[bytes.readUInt8(from + numbers.status)] ?? 'DELAYED',
    filledMicro: bytes.readDoubleLE(from + at.filled),
    paidMicro: bytes.readDoubleLE(from + at.paid),
    trades:
      length === unplaced
        ? null
        : Array.from({ length }, (_, index) => ({
            partition,
            inOffset,
            eventIndex: first + index,
          })),
    ...(bytes.readUInt8(from + numbers.ended) === 1 ? ({ ended: true } as const) : {}),
  };
}
