import { serveParent } from './child/child.ts';
import { type PhaseResult, runLoad, type SignedOrder } from './latency/load.ts';
import { Poster } from './latency/poster.ts';

/** Orders that are posted at a fixed rate. */
export interface OrdersJob {
  readonly url: string;
  readonly perSecond: number;
  /** Posted before the child is ready, so that connections are open and the path is compiled. */
  readonly warmUp: readonly SignedOrder[];
  readonly orders: readonly SignedOrder[];
}

/** Posts orders in a process of its own, so that it delays neither the subscriber nor the round trips. */
await serveParent(async ({ url, perSecond, warmUp, orders }: OrdersJob) => {
  const poster = new Poster(url);
  await runLoad(poster, warmUp, perSecond);
  const work = async (): Promise<PhaseResult> => {
    const result = await runLoad(poster, orders, perSecond);
    poster.close();
    return result;
  };
  return { info: null, work };
});
