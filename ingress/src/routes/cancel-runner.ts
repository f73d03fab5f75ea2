import {
  type CancelResult,
  type CommandOf,
  hexBytes,
  type OrderId,
  type RefusalCode,
  type WalletAddress,
} from '@pm/schemas';
import { cancelResult, settlesCancel } from '../core/cancel-result.ts';
import type { ListedToken } from '../core/listed-token.ts';
import type { PlacedEvent } from '../core/placement-answer.ts';
import type { CommandOutcome, DoorPorts } from './ports.ts';
import type { StageTimes } from './stage-times.ts';

/** What became of a cancel. With a `failure` it may or may not have been carried out where nothing is told of it. */
export interface Cancellation {
  readonly result: CancelResult;
  readonly failure: RefusalCode | null;
}

/** Who cancels, when his request arrived (Unix milliseconds), and who counts the milliseconds. */
export interface Canceler {
  readonly caller: { readonly address: WalletAddress; readonly arrivedAtMs: number };
  readonly times: StageTimes;
}

type CancelPorts = Pick<DoorPorts, 'answers' | 'partitions' | 'log'>;

/** Commands of one request that are on their way at once; the rest follows when these are answered. */
const commandsAtOnceMax = 4_000;

/**
 * Takes orders of the signer off their books, all partitions at once. The partition of recent orders is remembered; for
 * others every partition is asked, since only one of them can know the order. What cannot be settled is told with its reason
 * beside what could; the request fails only when nothing was settled.
 */
export async function cancelOrders(
  orderIds: readonly OrderId[],
  canceler: Canceler,
  ports: CancelPorts,
): Promise<Cancellation> {
  const asked: Asked[] = [];
  const atOnce = Math.max(1, Math.floor(commandsAtOnceMax / ports.partitions.count));
  for (let from = 0; from < orderIds.length; from += atOnce) {
    const wave = orderIds.slice(from, from + atOnce);
    asked.push(...(await Promise.all(wave.map((orderId) => ask(orderId, canceler, ports)))));
  }
  const unsettled = new Map<OrderId, RefusalCode>();
  for (const { orderId, failure } of asked) if (failure !== null) unsettled.set(orderId, failure);
  const events = asked.flatMap((one) => one.events);
  const [first = null] = unsettled.values();
  const failure = unsettled.size === orderIds.length ? first : null;
  return { result: cancelResult(events, failure === null ? unsettled : undefined), failure };
}

interface Asked {
  readonly orderId: OrderId;
  readonly events: readonly PlacedEvent[];
  /** Null when the order is settled. */
  readonly failure: RefusalCode | null;
}

/** Asks where the order may be, and waits no longer than until one partition settles it. */
function ask(orderId: OrderId, { caller, times }: Canceler, ports: CancelPorts): Promise<Asked> {
  const command = {
    kind: 'CancelOrder',
    orderId: hexBytes(orderId),
    signer: hexBytes(caller.address),
  } as const;
  const known = ports.answers.partitionOf(orderId);
  const partitions = known === undefined ? partitionsOf(ports) : [known];
  const events: PlacedEvent[] = [];
  let failure: RefusalCode | null = null;
  let open = partitions.length;
  return new Promise((resolve, reject) => {
    const take = (partition: number, outcome: CommandOutcome) => {
      open -= 1;
      noteTimes(outcome, times);
      events.push(...eventsOf(outcome));
      failure ??= failureOf(outcome, partition, ports);
      if (settlesCancel(events, orderId)) resolve({ orderId, events, failure: null });
      else if (open === 0) resolve({ orderId, events, failure });
    };
    for (const partition of partitions) {
      ports.log.run(partition, command).then((outcome) => take(partition, outcome), reject);
    }
  });
}

/**
 * One record cancels no more than `cancelsPerRecordMax`; a wallet has no more than `openOrdersPerWalletMax` resting orders
 * in a partition, so a few records are always enough. More tries mean that somebody keeps placing.
 */
const cancelRecordsMax = 8;

/**
 * Takes all orders of the signer off the book of a market, or of one of its tokens (`outcome` -1 means both), and refuses
 * those that arrived before this request and have not reached the book yet (`fenced`).
 */
export async function cancelMarket(
  { token, outcome }: { readonly token: ListedToken; readonly outcome: number },
  canceler: Canceler,
  ports: CancelPorts,
): Promise<Cancellation> {
  const { market, partition } = token.market;
  const command = commandOf(canceler, market, outcome);
  return conclude([await cancelWhere({ partition, command, canceler }, ports)]);
}

/** The same for every market, in all partitions at once. */
export async function cancelAll(canceler: Canceler, ports: CancelPorts): Promise<Cancellation> {
  const command = commandOf(canceler, -1, -1);
  const all = partitionsOf(ports).map((partition) =>
    cancelWhere({ partition, command, canceler }, ports),
  );
  return conclude(await Promise.all(all));
}

interface Sweep {
  readonly partition: number;
  readonly command: CommandOf<'CancelOrders'>;
  readonly canceler: Canceler;
}

interface Swept {
  readonly events: readonly PlacedEvent[];
  readonly failure: RefusalCode | null;
}

function conclude(swept: readonly Swept[]): Cancellation {
  const failure = swept.find((one) => one.failure !== null)?.failure ?? null;
  return { result: cancelResult(swept.flatMap((one) => one.events)), failure };
}

/** Repeats until the matcher leaves nothing: a record has a budget. */
async function cancelWhere(
  { partition, command, canceler }: Sweep,
  ports: CancelPorts,
): Promise<Swept> {
  const events: PlacedEvent[] = [];
  for (let records = 0; records < cancelRecordsMax; records += 1) {
    const outcome = await ports.log.run(partition, command);
    noteTimes(outcome, canceler.times);
    const failure = failureOf(outcome, partition, ports);
    if (failure !== null) return { events, failure };
    const answered = eventsOf(outcome);
    events.push(...answered);
    if (!leavesMore(answered)) return { events, failure: null };
  }
  return { events, failure: 'overloaded' };
}

function commandOf(
  { caller }: Canceler,
  market: number,
  outcome: number,
): CommandOf<'CancelOrders'> {
  return {
    kind: 'CancelOrders',
    signer: hexBytes(caller.address),
    apiKey: null,
    market,
    outcome,
    session: false,
    acceptedAtMs: caller.arrivedAtMs,
  };
}

function partitionsOf({ partitions }: CancelPorts): readonly number[] {
  return [...Array(partitions.count).keys()];
}

/** Whether the record's budget ran out before everything that was meant had been canceled. */
function leavesMore(events: readonly PlacedEvent[]): boolean {
  return events.some(({ event }) => event.kind === 'CommandRefused');
}

function noteTimes(outcome: CommandOutcome, times: StageTimes): void {
  if (outcome.kind !== 'answered' || outcome.times === undefined) return;
  times.add('log', outcome.times.logMs);
  times.add('match', outcome.times.matchMs);
}

function eventsOf(outcome: CommandOutcome): readonly PlacedEvent[] {
  return outcome.kind === 'answered' ? outcome.events : [];
}

/**
 * A cancel that was not answered may still happen, so it is a failure to be tried again, never "not canceled". Without an
 * owner of its partition it waits on the log and is the first thing that the next owner does.
 */
function failureOf(
  outcome: CommandOutcome,
  partition: number,
  { partitions }: CancelPorts,
): RefusalCode | null {
  if (outcome.kind === 'answered') return null;
  if (outcome.kind === 'unsent' && outcome.code === 'overloaded') return 'overloaded';
  return partitions.isReady(partition) ? 'cancel_unconfirmed' : 'partition_not_ready';
}
