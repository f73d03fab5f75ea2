import {
  type CancelResult,
  type Command,
  hexBytes,
  type OrderId,
  type RefusalCode,
  type WalletAddress,
} from '@pm/schemas';
import { cancelResult, settlesCancel } from '../core/cancel-result.ts';
import type { ListedToken } from '../core/listed-token.ts';
import type { PlacedEvent } from '../core/placement-answer.ts';
import type { CommandOutcome, DoorPorts } from './ports.ts';

/** What became of a cancel, or why the request failed; then it may or may not have been carried out. */
export type Cancellation =
  | { readonly kind: 'done'; readonly result: CancelResult }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

type CancelPorts = Pick<DoorPorts, 'answers' | 'partitions' | 'log'>;

/**
 * Takes one order of the signer off its book. Its partition is remembered for recent orders; for others all partitions are
 * asked, since only one of them can know the order.
 */
export async function cancelOrder(
  orderId: OrderId,
  signer: WalletAddress,
  ports: CancelPorts,
): Promise<Cancellation> {
  const command: Command = {
    kind: 'CancelOrder',
    orderId: hexBytes(orderId),
    signer: hexBytes(signer),
  };
  const known = ports.answers.partitionOf(orderId);
  const partitions = known === undefined ? [...Array(ports.partitions.count).keys()] : [known];
  const outcomes = await Promise.all(
    partitions.map((partition) => ports.log.run(partition, command)),
  );
  const events = outcomes.flatMap(eventsOf);
  if (settlesCancel(events, orderId)) return { kind: 'done', result: cancelResult(events) };
  return failureOf(outcomes) ?? { kind: 'done', result: cancelResult(events) };
}

/**
 * One record cancels no more than `cancelsPerRecordMax`; a wallet has no more than `openOrdersPerWalletMax` resting orders
 * in a partition, so a few records are always enough. More tries mean that somebody keeps placing.
 */
const cancelRecordsMax = 8;

/** Takes all orders of the signer off the book of a market, or of one of its tokens (`outcome` -1 means both). */
export async function cancelMarket(
  filter: { readonly token: ListedToken; readonly outcome: number },
  signer: WalletAddress,
  ports: CancelPorts,
): Promise<Cancellation> {
  const { market } = filter.token;
  const command: Command = {
    kind: 'CancelOrders',
    signer: hexBytes(signer),
    apiKey: null,
    market: market.market,
    outcome: filter.outcome,
    session: false,
    acceptedAtMs: 0,
  };
  const events: PlacedEvent[] = [];
  for (let records = 0; records < cancelRecordsMax; records += 1) {
    const outcome = await ports.log.run(market.partition, command);
    const failure = failureOf([outcome]);
    if (failure !== null) return failure;
    const answered = eventsOf(outcome);
    events.push(...answered);
    if (!leavesMore(answered)) return { kind: 'done', result: cancelResult(events) };
  }
  return { kind: 'refused', code: 'overloaded' };
}

/** Whether the record's budget ran out before everything that was meant had been canceled. */
function leavesMore(events: readonly PlacedEvent[]): boolean {
  return events.some(({ event }) => event.kind === 'CommandRefused');
}

function eventsOf(outcome: CommandOutcome): readonly PlacedEvent[] {
  return outcome.kind === 'answered' ? outcome.events : [];
}

/** A cancel that was not answered may still happen, so it is a failure to be tried again, never "not canceled". */
function failureOf(outcomes: readonly CommandOutcome[]): Cancellation | null {
  for (const outcome of outcomes) {
    if (outcome.kind === 'unsent') return { kind: 'refused', code: outcome.code };
    if (outcome.kind !== 'answered') return { kind: 'refused', code: 'internal_error' };
  }
  return null;
}
