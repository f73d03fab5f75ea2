import { serveParent } from './child/child.ts';
import { Poster } from './latency/poster.ts';
import type { GeneratorJob, GeneratorTask, LoadResult } from './load/job.ts';
import { type LoadShape, planLoad } from './load/plan.ts';
import { type Sender, type SignedPlan, sendLoad } from './load/send-load.ts';
import { signerOf, signFor, traderName } from './world/world.ts';

/** The generator of bench:load: a process of its own that signs the orders of a step, then sends them as planned. */
const tasksMax = 10_000;

await serveParent<GeneratorJob, LoadResult | null, GeneratorTask>(async (job) => {
  let signed: SignedPlan | null = null;
  return {
    info: null,
    rounds: tasksMax,
    async work(task) {
      if (task.kind === 'sign') {
        signed = signPlan(job, task.shape);
        return null;
      }
      if (signed === null) throw new RangeError('nothing is signed');
      return await send(signed, job, task);
    },
  };
});

function signPlan({ domain, keys, markets }: GeneratorJob, shape: LoadShape): SignedPlan {
  const plan = planLoad(shape);
  const wallets = keys.map((key, index) => ({ key, domain, signer: signerOf(traderName(index)) }));
  const orders = plan.orders.map(({ wallet, market, outcome, price }) => {
    const owner = wallets[wallet];
    const tokenId = markets[market]?.tokens[outcome];
    if (owner === undefined || tokenId === undefined) throw new RangeError('no wallet or market');
    return signFor(owner, { tokenId, side: 'BUY', price, size: '5' });
  });
  return { shape, plan, orders };
}

/** Connections are opened in the lead of the step, each wallet from an address of its own. */
async function send(
  signed: SignedPlan,
  { keys }: GeneratorJob,
  { url, isExchange }: Extract<GeneratorTask, { kind: 'send' }>,
): Promise<LoadResult> {
  const senders: Sender[] = keys.map((key, index) => ({
    key,
    poster: new Poster(url, { localAddress: `127.4.0.${index + 1}` }),
  }));
  try {
    const outcome = await sendLoad(signed, senders);
    // The next step begins with empty books.
    if (isExchange) await Promise.all(senders.map(cancelAll));
    return outcome;
  } finally {
    for (const { poster } of senders) poster.close();
  }
}

async function cancelAll({ key, poster }: Sender): Promise<void> {
  await poster.signed(key, { method: 'DELETE', path: '/cancel-all', body: '' });
}
