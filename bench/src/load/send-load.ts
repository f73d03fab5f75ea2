import type { Answer, Poster } from '../latency/poster.ts';
import type { GeneratorJob, LoadResult } from './job.ts';
import { pace } from './pace.ts';
import type { LoadPlan, LoadShape, PlannedRequest } from './plan.ts';
import { LoadTally } from './tally.ts';

/** A plan whose orders are signed. */
export interface SignedPlan {
  readonly shape: LoadShape;
  readonly plan: LoadPlan;
  /** In the order of the plan. */
  readonly orders: readonly { readonly orderId: string; readonly body: string }[];
}

/** A wallet's key and its connections. */
export interface Sender {
  readonly key: GeneratorJob['keys'][number];
  readonly poster: Poster;
}

/** Requests in flight; more are counted as not sent. */
const inFlightMax = 8_192;

/** Sends everything at its moment, by the sender of each wallet, and waits for all answers. */
export async function sendLoad(
  signed: SignedPlan,
  senders: readonly Sender[],
): Promise<LoadResult> {
  const { requests } = signed.plan;
  const measuredFromMs = signed.shape.leadSeconds * 1_000;
  const tally = new LoadTally();
  const running = new Set<Promise<void>>();
  await pace(
    requests.map(({ atMs }) => atMs),
    (index, plannedAt) => {
      const request = requests[index];
      if (request === undefined) return;
      const isMeasured = request.atMs >= measuredFromMs;
      if (isMeasured) tally.began(performance.now() - plannedAt);
      if (running.size >= inFlightMax) {
        if (isMeasured) tally.notSent(request);
        return;
      }
      const sent = sendOne(signed, senders, request).then((answer) => {
        running.delete(sent);
        if (isMeasured) tally.answered(request, answer, performance.now() - plannedAt);
      });
      running.add(sent);
    },
  );
  await Promise.all(running);
  return tally.outcome();
}

function sendOne(
  { orders }: SignedPlan,
  senders: readonly Sender[],
  request: PlannedRequest,
): Promise<Answer> {
  const { key, poster } = senders[request.wallet] ?? noSender();
  const signed = request.orders.map((order) => orders[order] ?? noSender());
  if (request.kind === 'cancel') {
    const body = JSON.stringify(signed.map(({ orderId }) => orderId));
    return poster.signed(key, { method: 'DELETE', path: '/orders', body });
  }
  const bodies = signed.map(({ body }) => body);
  const [only = ''] = bodies;
  return bodies.length === 1
    ? poster.post(key, only)
    : poster.post(key, `[${bodies.join(',')}]`, '/orders');
}

function noSender(): never {
  throw new RangeError('every request has a sender and signed orders');
}
