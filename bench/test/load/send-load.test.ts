import type { Answer, Poster } from '../../src/latency/poster.ts';
import { planLoad } from '../../src/load/plan.ts';
import { sendLoad } from '../../src/load/send-load.ts';

function loadOf(length: { readonly leadSeconds: number; readonly seconds: number }) {
  const shape = {
    ...length,
    rate: { perSecond: 400, batch: 2 },
    wallets: 2,
    markets: 4,
    fills: 0,
  };
  const plan = planLoad(shape);
  const orders = plan.orders.map((_, index) => {
    return { orderId: `id ${index}`, body: `{"order":${index}}` };
  });
  return { shape, plan, orders };
}

/** So long that both wallets cancel in the measured part. */
const canceling = loadOf({ leadSeconds: 0.75, seconds: 1 });
const short = loadOf({ leadSeconds: 0.25, seconds: 0.5 });
const key = { apiKey: 'key', secret: '', passphrase: '', address: '0x' };
const live = { success: true, status: 'live' };

/** Answers each request so much later. */
function sendersOf(answer: (body: string) => Answer, delayMs = 0) {
  const respond = async (body: string): Promise<Answer> => {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    return answer(body);
  };
  const poster = {
    post: (_key: unknown, body: string) => respond(body),
    signed: (_key: unknown, { body }: { readonly body: string }) => respond(body),
  } as unknown as Poster;
  return [
    { key, poster },
    { key, poster },
  ];
}

describe('the sender of a load', () => {
  it('counts each order of the measured part once, and none of the lead', async () => {
    const bodies: string[] = [];
    const senders = sendersOf((body) => {
      bodies.push(body);
      return { status: 200, body: answerTo(body) };
    });
    const { outcomes, cancels, latenciesMs, behindMs } = await sendLoad(canceling, senders);
    const { plan } = canceling;
    const measured = plan.requests.filter(({ atMs }) => atMs >= 750);
    const placed = measured.filter(({ kind }) => kind === 'place');
    expect(outcomes).toEqual({ live: 400 });
    expect(latenciesMs).toHaveLength(placed.length);
    expect(behindMs).toHaveLength(measured.length);
    const canceled = measured.filter(({ kind }) => kind === 'cancel');
    expect(canceled.length).toBeGreaterThan(1);
    expect(cancels).toEqual({
      canceled: canceled.reduce((sum, { orders }) => sum + orders.length, 0),
    });
    expect(bodies).toHaveLength(plan.requests.length);
  });

  it('counts the time of an answer that does not come, and the orders as not answered', async () => {
    const senders = sendersOf(() => ({ status: 0, body: 'no answer in time' }), 30);
    const { outcomes, latenciesMs } = await sendLoad(short, senders);
    expect(outcomes).toEqual({ 'no answer': 200 });
    for (const ms of latenciesMs) expect(ms).toBeGreaterThan(20);
  });

  it('counts from the planned moment when it is held up itself', async () => {
    let isFirst = true;
    const senders = sendersOf((body) => {
      if (isFirst) hold(550);
      isFirst = false;
      return { status: 200, body: answerTo(body) };
    });
    const { latenciesMs, behindMs } = await sendLoad(short, senders);
    // The hold ends 300 ms after the measured part began.
    expect(Math.max(...latenciesMs)).toBeGreaterThan(250);
    expect(Math.max(...behindMs)).toBeGreaterThan(250);
  });
});

function answerTo(body: string): string {
  const sent = JSON.parse(body) as readonly unknown[];
  if (body.startsWith('["')) return JSON.stringify({ canceled: sent, not_canceled: {} });
  return JSON.stringify(sent.map(() => live));
}

function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
