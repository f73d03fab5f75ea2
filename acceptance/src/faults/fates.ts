import { setTimeout as sleep } from 'node:timers/promises';
import { nothingReceived } from '../smoke/trader.ts';
import { verifyWorld } from '../smoke/verify.ts';
import type { World } from '../smoke/world.ts';
import type { Span } from './gaps.ts';
import type { SentOrder } from './order-load.ts';

/** Fates of the orders, and problems that the log shows in the rest of the exchange. */
export interface Judgement {
  readonly sent: readonly SentOrder[];
  /** Orders without a definite fate at the end, each with what is known of it. */
  readonly unresolved: readonly string[];
  /** Orders that were answered as a success and never booked. */
  readonly lost: readonly string[];
  /** Everything that the comparison of log, tables, books and ledger found. */
  readonly problems: readonly string[];
}

/** Longest time in which an order whose fate was open gets one, milliseconds. */
const resolvedMaxMs = 180_000;
/** Orders that are looked up at the same time. */
const readsAtOnce = 8;
/** Longest time in which ingress of a calm exchange asks the log for an order in doubt, milliseconds. */
const askedMaxMs = 10_000;

/** Looks up what is open, and compares the log with all responses. `ingressEnds`: spans in which ingress ended. */
export async function judgeOrders(
  world: World,
  sent: readonly SentOrder[],
  ingressEnds: readonly Span[],
): Promise<Judgement> {
  const idsOf = (outcome: SentOrder['outcome']) =>
    sent.filter((order) => order.outcome === outcome).map(({ id }) => id);
  const open = sent.filter(({ outcome }) => outcome === 'unknown');
  const inDoubt = open.map((order) => ({ ...order, isFollowed: isFollowed(order, ingressEnds) }));
  const unresolved = await untilResolved(world.stack.baseUrl, inDoubt);
  const received = {
    ...nothingReceived(),
    placed: new Set(idsOf('acknowledged')),
    refused: new Set(idsOf('refused')),
  };
  const noStreams = { expect() {}, compare: async () => [] };
  const judged = { received, streams: noStreams, problems: {}, poisonRecords: 0 };
  const { checks, audit } = await verifyWorld(world, judged);
  const lost = [...received.placed].filter((id) => !audit.orders.has(id));
  const problems = Object.entries(checks).flatMap(([check, found]) =>
    found.map((text) => `${check}: ${text}`),
  );
  const fateOf = ({ id, code, partition, answeredAtMs, read }: OpenOrder) => {
    const agoSeconds = Math.round((performance.now() - answeredAtMs) / 1_000);
    const inLog = audit.orders.has(id) ? 'booked' : 'not booked';
    return `${id} of partition ${partition}: ${code} ${agoSeconds} s ago, ${inLog}, read as ${read}`;
  };
  return { sent, unresolved: unresolved.map(fateOf), lost, problems };
}

/** An order whose response left its fate open. */
interface OrderInDoubt extends SentOrder {
  /** Whether ingress asks the log for it until it has a fate. */
  readonly isFollowed: boolean;
}

/** An order without a definite fate, and the answer of its look-up. */
interface OpenOrder extends OrderInDoubt {
  readonly read: string;
}

/**
 * Ingress follows what it answered as unconfirmed, in its memory: an order is forgotten with an ingress that ends
 * before it has asked for it, and then its owner has to send it again. One that ingress has not answered is not
 * followed.
 */
function isFollowed({ code, answeredAtMs }: SentOrder, ingressEnds: readonly Span[]): boolean {
  const isForgotten = ingressEnds.some(
    ({ fromMs, toMs }) => answeredAtMs >= fromMs - askedMaxMs && answeredAtMs <= toMs,
  );
  return code === 'order_unconfirmed' && !isForgotten;
}

/** The orders that the look-up still does not know, after the time that the exchange has to find out. */
async function untilResolved(
  baseUrl: string,
  sent: readonly OrderInDoubt[],
): Promise<readonly OpenOrder[]> {
  let open = await openOf(baseUrl, sent);
  // From here on: on a busy machine it takes longer than that to ask for all of them once.
  const untilMs = performance.now() + resolvedMaxMs;
  while (open.length > 0 && performance.now() < untilMs) {
    await sleep(1_000);
    open = await openOf(baseUrl, open);
  }
  return open;
}

async function openOf(
  baseUrl: string,
  asked: readonly OrderInDoubt[],
): Promise<readonly OpenOrder[]> {
  const open: OpenOrder[] = [];
  for (let from = 0; from < asked.length; from += readsAtOnce) {
    const reads = asked.slice(from, from + readsAtOnce).map(async (one) => {
      const read = await openRead(baseUrl, one);
      if (read !== null) open.push({ ...one, read });
    });
    await Promise.all(reads);
  }
  return open;
}

/** Null for an order, for one reason why it is none, and for an unknown one that is not followed; else the answer. */
async function openRead(baseUrl: string, { id, isFollowed }: OrderInDoubt): Promise<string | null> {
  const response = await fetch(`${baseUrl}/data/order/${id}`);
  const { code } = (await response.json()) as { readonly code?: string };
  const isKnown = response.ok || (response.status === 404 && (code !== undefined || !isFollowed));
  return isKnown ? null : `${response.status} ${code ?? 'without a code'}`;
}
