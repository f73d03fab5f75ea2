import type { CancelResult } from '@pm/schemas/http/trading';
import { hexBytes, type OrderId, orderIdFromBytes, type WalletAddress } from '@pm/schemas/ids';
import { type CommandOf, idsPerCancelMax } from '@pm/schemas/log/orders';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { ListedToken } from '../catalog/catalog-index.ts';
import type { CommandSender, Waiting } from '../commands/command-channel.io.ts';
import type { PartitionLiveness } from '../commands/partition-liveness.ts';
import type { RecentResults } from '../commands/recent-results-cache.ts';
import type { CommandResult } from '../commands/result-waiters.ts';
import { waiterOf } from '../commands/waiting-shares.ts';
import type { PlacedEvent } from '../orders/order-result.ts';
import type { AnswerPlaces } from '../requests/answer-places.ts';
import type { StageTimes } from '../requests/stage-times.io.ts';
import type { Searches } from './order-searches.io.ts';
import { cancelResult } from './result.ts';

/** The result of a cancel. With a `failure`, orders that are not in the result may or may not be canceled. */
export interface Cancellation {
  readonly result: CancelResult;
  readonly failure: RefusalCode | null;
}

/** The caller that cancels, the arrival of its request (Unix milliseconds), and the clock of its stages. */
export interface Canceler {
  readonly caller: {
    readonly address: WalletAddress;
    readonly arrivedAtMs: number;
    /** The counted address of the client; absent for the exchange itself. */
    readonly client?: string;
    /** Takes the partitions that the answer tells of; absent for the exchange itself. */
    readonly answerPlaces?: Pick<AnswerPlaces, 'add'>;
  };
  readonly times: StageTimes;
}

/** Dependencies of cancels. */
export interface CancelServices {
  readonly recentResults: Pick<RecentResults, 'partitionOf'>;
  readonly partitions: Pick<PartitionLiveness, 'numbers' | 'isReady'>;
  readonly commands: Pick<CommandSender, 'run'>;
}

/** Dependencies of cancels that name no order. */
export type CancelAllServices = Omit<CancelServices, 'recentResults'>;

/** Dependencies of cancels that name their orders. */
export interface NamedCancelServices extends CancelServices {
  searchesOf(wallet: WalletAddress): Searches;
}

/** Commands of one request that are on their way at once: half of what a wallet may have (`WaitingShares`). */
const commandsAtOnceMax = 800;

/**
 * Takes orders of the signer off their books. The partition of recent orders is remembered; for others every partition
 * is asked (`OrderSearches`), since only one of them can know the order, and each fences ids that it does not know: an
 * order on its way is refused as `fenced` when it comes. An order that cannot be settled is returned with its reason
 * beside what could; the request fails only when nothing was settled.
 */
export async function cancelOrders(
  orderIds: readonly OrderId[],
  canceler: Canceler,
  services: NamedCancelServices,
): Promise<Cancellation> {
  const known: Located[] = [];
  const others: OrderId[] = [];
  for (const orderId of orderIds) {
    const partition = services.recentResults.partitionOf(orderId);
    if (partition === undefined) others.push(orderId);
    else known.push({ orderId, partition });
  }
  const answers = await Promise.all([
    askKnown(known, canceler, services),
    search(others, canceler, services),
  ]);
  const asked = answers.flat();
  const reasons = new Map<OrderId, RefusalCode>();
  for (const { orderId, events, failure } of asked) {
    if (failure !== null) reasons.set(orderId, failure);
    else if (events.length === 0) reasons.set(orderId, 'order_unknown');
  }
  const events = asked.flatMap((one) => one.events);
  const [first] = asked;
  const failure = asked.every((one) => one.failure !== null) ? (first?.failure ?? null) : null;
  return { result: cancelResult(events, failure === null ? reasons : undefined), failure };
}

/** An order whose partition is remembered. */
interface Located {
  readonly orderId: OrderId;
  readonly partition: number;
}

async function askKnown(
  orders: readonly Located[],
  canceler: Canceler,
  services: CancelServices,
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (let from = 0; from < orders.length; from += commandsAtOnceMax) {
    const wave = orders.slice(from, from + commandsAtOnceMax);
    asked.push(...(await Promise.all(wave.map((order) => askOne(order, canceler, services)))));
  }
  return asked;
}

async function askOne(
  { orderId, partition }: Located,
  { caller, times }: Canceler,
  services: CancelServices,
): Promise<Asked> {
  const signer = hexBytes(caller.address);
  const command = { kind: 'CancelOrder', orderId: hexBytes(orderId), signer } as const;
  const result = await services.commands.run(partition, command, waitingOf(caller, true));
  times.addLog(result);
  tellOf(result, partition, caller);
  const failure = failureOf(result, partition, services);
  return { orderId, events: eventsOf(result), failure };
}

/** Orders that may be in any partition; `overloaded` where the caller has too many searches or no time is left. */
async function search(
  orderIds: readonly OrderId[],
  canceler: Canceler,
  services: NamedCancelServices,
): Promise<readonly Asked[]> {
  const { waiter } = waitingOf(canceler.caller, false);
  const askWave = async (wave: readonly OrderId[]) => {
    const asked: Promise<readonly Asked[]>[] = [];
    for (let from = 0; from < wave.length; from += idsPerCancelMax)
      asked.push(askEverywhere(wave.slice(from, from + idsPerCancelMax), canceler, services));
    return (await Promise.all(asked)).flat();
  };
  if (orderIds.length === 0) return [];
  if (waiter === null) return await askWave(orderIds);
  const searches = services.searchesOf(canceler.caller.address);
  const asked = (await searches.run(waiter, orderIds, askWave)) ?? [];
  const unasked = orderIds.slice(asked.length);
  return [
    ...asked,
    ...unasked.map((orderId): Asked => ({ orderId, events: [], failure: 'overloaded' })),
  ];
}

interface Asked {
  readonly orderId: OrderId;
  /** Empty for an order that no partition has seen. */
  readonly events: readonly PlacedEvent[];
  /** Null when the order is settled, or known to no partition and fenced in all. */
  readonly failure: RefusalCode | null;
}

/** Asks every partition for the orders, and waits no longer than until each has been settled by one. */
function askEverywhere(
  orderIds: readonly OrderId[],
  { caller, times }: Canceler,
  services: CancelServices,
): Promise<readonly Asked[]> {
  const command: CommandOf<'CancelByIds'> = {
    kind: 'CancelByIds',
    signer: hexBytes(caller.address),
    orderIds: orderIds.map(hexBytes),
    acceptedAtMs: caller.arrivedAtMs,
  };
  const partitions = services.partitions.numbers;
  // Ids that every partition is asked for are no reason to use what is kept for cancels.
  const waiting = waitingOf(caller, false);
  const found = new Map<OrderId, PlacedEvent>();
  let failure: RefusalCode | null = null;
  let open = partitions.length;
  return new Promise((resolve, reject) => {
    const take = (partition: number, result: CommandResult) => {
      open -= 1;
      times.addLog(result);
      tellOf(result, partition, caller);
      const events = eventsOf(result);
      for (const placed of events)
        if ('orderId' in placed.event) found.set(orderIdFromBytes(placed.event.orderId), placed);
      failure = failureToReport(failure, failureOf(result, partition, services));
      if (leavesMore(events)) failure ??= 'overloaded';
      if (open > 0 && found.size < orderIds.length) return;
      resolve(orderIds.map((orderId) => askedOf(orderId, found.get(orderId), failure)));
    };
    for (const partition of partitions) {
      services.commands
        .run(partition, command, waiting)
        .then((result) => take(partition, result), reject);
    }
  });
}

/** The answer tells of the record with this result. */
function tellOf(
  { kind }: CommandResult,
  partition: number,
  { answerPlaces }: Canceler['caller'],
): void {
  if (kind === 'executed') answerPlaces?.add(partition);
}

function askedOf(
  orderId: OrderId,
  event: PlacedEvent | undefined,
  failure: RefusalCode | null,
): Asked {
  if (event === undefined) return { orderId, events: [], failure };
  return { orderId, events: [event], failure: null };
}

/**
 * One record cancels no more than `cancelsPerRecordMax`; a wallet has no more than `openOrdersPerWalletMax` resting
 * orders in a partition, so a few records are always enough. More attempts mean that the signer keeps placing.
 */
const cancelRecordsMax = 8;

/**
 * Takes all orders of the signer off the book of a market, or of one of its tokens (`outcome` -1 means both), and
 * refuses those that arrived before this request and have not reached the book yet (`fenced`).
 */
export async function cancelMarket(
  { token, outcome }: { readonly token: ListedToken; readonly outcome: number },
  canceler: Canceler,
  services: CancelAllServices,
): Promise<Cancellation> {
  const { market, partition } = token.market;
  const command = commandOf(canceler, market, outcome);
  return conclude([await cancelWhere({ partition, command, canceler }, services)]);
}

/** Cancels all orders of the signer as `cancelMarket` does, but in every market, in all partitions at once. */
export async function cancelAll(
  canceler: Canceler,
  services: CancelAllServices,
): Promise<Cancellation> {
  const command = commandOf(canceler, -1, -1);
  const all = services.partitions.numbers.map((partition) =>
    cancelWhere({ partition, command, canceler }, services),
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
  const failure = swept.map((one) => one.failure).reduce(failureToReport, null);
  return { result: cancelResult(swept.flatMap((one) => one.events)), failure };
}

/** Repeats until the matcher leaves nothing: a record has a budget. */
async function cancelWhere(
  { partition, command, canceler }: Sweep,
  services: CancelAllServices,
): Promise<Swept> {
  const events: PlacedEvent[] = [];
  for (let records = 0; records < cancelRecordsMax; records += 1) {
    const result = await services.commands.run(
      partition,
      command,
      waitingOf(canceler.caller, true),
    );
    canceler.times.addLog(result);
    tellOf(result, partition, canceler.caller);
    const failure = failureOf(result, partition, services);
    if (failure !== null) return { events, failure };
    const answered = eventsOf(result);
    events.push(...answered);
    if (!leavesMore(answered)) return { events, failure: null };
  }
  return { events, failure: 'overloaded' };
}

function waitingOf({ address, client }: Canceler['caller'], mayUseReserve: boolean): Waiting {
  return { waiter: client === undefined ? null : waiterOf({ address, client }), mayUseReserve };
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

/** Whether a budget ran out before everything that was meant had been canceled and fenced. */
function leavesMore(events: readonly PlacedEvent[]): boolean {
  return events.some(({ event }) => event.kind === 'CommandRefused');
}

function eventsOf(result: CommandResult): readonly PlacedEvent[] {
  return result.kind === 'executed' ? result.events : [];
}

/** The failure to report of two partitions: of a cancel that may still be carried out before one that was not sent. */
function failureToReport(
  first: RefusalCode | null,
  second: RefusalCode | null,
): RefusalCode | null {
  if (first === null || second === 'cancel_unconfirmed') return second;
  return first === 'overloaded' ? (second ?? first) : first;
}

/**
 * A cancel without a result may still happen, so it is a failure to be tried again, never "not canceled". Without an
 * owner of its partition it waits on the log and is the first thing that the next owner does.
 */
function failureOf(
  result: CommandResult,
  partition: number,
  { partitions }: CancelAllServices,
): RefusalCode | null {
  if (result.kind === 'executed') return null;
  if (result.kind === 'unsent' && result.code === 'overloaded') return 'overloaded';
  return partitions.isReady(partition) ? 'cancel_unconfirmed' : 'partition_not_ready';
}
