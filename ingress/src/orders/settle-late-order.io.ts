import type { CommandSender } from '@pm/domain/commands/command-channel.io';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { CommandResult } from '@pm/domain/commands/result-waiters';
import { type Reservations, type Reserved, reserveWith } from '@pm/domain/orders/reservation.io';
import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { SentOrder } from './command.ts';

/**
 * The clock of its partition is so far past the acceptance of an order that may be asked for, milliseconds: longer than
 * any order may take to its book, so that asking books nothing.
 */
export const certainlyLateMs = 5_000;

/** Whether the order can be asked for: it is too late for its book, unless it is there. */
export function isCertainlyLate(
  { partition, order }: SentOrder,
  partitions: Pick<PartitionLiveness, 'at'>,
): boolean {
  return partitions.at(partition).clockMs > order.acceptedAtMs + certainlyLateMs;
}

/** The parts that bring an order to the log a second time. */
export interface LogQuestions {
  readonly ledger: Pick<Reservations, 'reserve'>;
  readonly commands: Pick<CommandSender, 'run'>;
}

/**
 * Sends an order that is certainly late to the log once more, with nothing held for it: a known order returns its first
 * result, one that never came is refused as `too_late` for ever. The code when it could not be sent.
 */
export async function settleLateOrder(
  { partition, order }: SentOrder,
  { ledger, commands }: LogQuestions,
): Promise<{ readonly result: CommandResult; readonly reserved: Reserved } | RefusalCode> {
  const { market, acceptedAtMs } = order;
  const orderId = orderIdFromBytes(order.orderId);
  const wallet = walletFromBytes(order.maker);
  const asked = { orderId, wallet, partition, kind: 'order', market, acceptedAtMs } as const;
  const reserved = await reserveWith({ ...asked, amountMicro: 0 }, () => false, ledger);
  if (typeof reserved === 'string') return reserved;
  return { result: await commands.run(partition, order), reserved };
}
