import { once } from 'node:events';
import { operatorsFileIn } from '@pm/deploy/setup/operators';
import { addOperator } from '@pm/operate/operators/operators-file';
import {
  call,
  certainlyNewMs,
  ExchangeUnderTest,
  type OperatorProcess,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';
import { askOperator } from './ask-operator.ts';

/** The shorter one is over when it is over; in the longer one a challenge has to arrive, on a busy machine too. */
const windowSeconds = { unchallenged: 3, challenged: 12 };
const windowed = (seconds: number) => ({
  PM_SECOND_PERSON: 'on',
  PM_CHALLENGE_SECONDS: String(seconds),
});
const shares = '10';

interface Listed {
  readonly id: string;
  readonly conditionId: string;
  readonly token: string;
}

let exchange: ExchangeUnderTest;
let trader: Trader;
let listed: readonly [Listed, Listed, Listed];
let tokens: { readonly rita: string; readonly ron: string; readonly vera: string };
/** Resolutions of the market that is challenged, and of one that is proposed right after it and is not. */
let proposals: { readonly challenged: Approval; readonly unchallenged: Approval };
/** The process that took over from the first one. */
let second: OperatorProcess | null = null;

beforeAll(async () => {
  const env = windowed(windowSeconds.challenged);
  exchange = await ExchangeUnderTest.openLone('challenges', 1, env);
  const names = ['paid', 'challenged', 'unchallenged'];
  const markets = names.map((slug) => ({ slug, question: `${slug}?`, minOrderSize: '1' }));
  const event = { slug: 'windows', title: 'Windows', markets };
  const { markets: made } = await exchange.operator.importEvents([event]);
  const [paid, challenged, unchallenged] = made.map(({ id, conditionId, tokenIds }) => ({
    id,
    conditionId,
    token: tokenIds[0] ?? '',
  }));
  if (paid === undefined || challenged === undefined || unchallenged === undefined)
    throw new Error('three markets are listed');
  listed = [paid, challenged, unchallenged];
  trader = await exchange.openTrader('100');
  for (const { conditionId } of listed) {
    const body = JSON.stringify({ condition_id: conditionId, amount: shares, id: conditionId });
    const split = await call(exchange.ingress, trader, 'POST', '/account/split', { body });
    expect(split.status).toBe(200);
  }
  const file = operatorsFileIn(exchange.folder);
  tokens = {
    rita: addOperator(file, { name: 'rita', roles: ['resolver'] }),
    ron: addOperator(file, { name: 'ron', roles: ['resolver'] }),
    vera: addOperator(file, { name: 'vera', roles: ['viewer'] }),
  };
  const process = exchange.operatorProcess;
  await until(async () => (await askOperator(process, tokens.vera, 'status')).status === 200);
  // Their windows pass while the first test waits for its own.
  proposals = {
    challenged: await proposeAndChallenge(process, challenged),
    unchallenged: await propose(process, unchallenged, '1'),
  };
}, 300_000);

afterAll(() => exchange?.close(), 60_000);

async function kill({ process }: OperatorProcess): Promise<void> {
  const gone = once(process, 'exit');
  process.kill('SIGKILL');
  await gone;
}

interface Approval {
  readonly id: string;
  readonly state: string;
  readonly paysAt: string;
  readonly carriedOutAt: string | null;
}

async function approvalOf(operator: OperatorProcess, id: string): Promise<Approval> {
  return (await askOperator(operator, tokens.vera, `approvals/${id}`)).body;
}

/** A resolution that rita asks for and ron approves. */
async function propose(operator: OperatorProcess, market: Listed, payout0: string) {
  const asked = await askOperator(operator, tokens.rita, `markets/${market.id}/resolve`, {
    payout0,
  });
  expect(asked).toMatchObject({ status: 202, body: { state: 'pending' } });
  const { id } = asked.body as Approval;
  const decision = { decision: 'approve' };
  const approved = await askOperator(operator, tokens.ron, `approvals/${id}`, decision);
  expect(approved).toMatchObject({
    status: 200,
    body: { approval: { state: 'proposed' }, result: null },
  });
  return (approved.body as { readonly approval: Approval }).approval;
}

/** A resolution that vera challenges. */
async function proposeAndChallenge(operator: OperatorProcess, market: Listed) {
  const proposal = await propose(operator, market, '1');
  const path = `approvals/${proposal.id}/challenge`;
  const reason = { reason: 'it rained' };
  expect(await askOperator(operator, tokens.vera, path, reason)).toMatchObject({
    status: 200,
    body: { state: 'challenged', challengedBy: 'vera', challengeReason: 'it rained' },
  });
  return proposal;
}

/** The answer to an order of the market; ingress reads in the catalog what the operator's process has written. */
async function tried({ token }: Listed): Promise<string> {
  const orders = [order(trader, token, undefined, { aheadMs: certainlyNewMs })];
  return JSON.stringify((await place(exchange.ingress, trader, orders)).body);
}

let redemptions = 0;

/** The answer to the redemption of all tokens of a market. */
async function redeem({ conditionId }: Listed) {
  redemptions += 1;
  const body = JSON.stringify({ condition_id: conditionId, id: `redeem-${redemptions}` });
  return await call(exchange.ingress, trader, 'POST', '/account/redeem', { body });
}

test('an approved resolution pays after its window, also when the process died within it', async () => {
  const [market] = listed;
  const first = exchange.operatorProcess;
  const { id, paysAt } = await propose(first, market, '1');
  await kill(first);
  await until(async () => (await tried(market)).includes('cancel_only'));
  expect((await redeem(market)).status).not.toBe(200);
  const next = await exchange.openOperator(windowed(windowSeconds.unchallenged));
  second = next;
  await until(async () => (await approvalOf(next, id)).state === 'carried_out');
  const { carriedOutAt } = await approvalOf(next, id);
  expect(Date.parse(carriedOutAt ?? '')).toBeGreaterThanOrEqual(Date.parse(paysAt));
  expect(await redeem(market)).toMatchObject({ status: 200, body: { payout: shares } });
  const trail = await askOperator(
    next,
    tokens.vera,
    `audit?containing=/${market.id}/resolve&limit=1`,
  );
  expect(trail.body).toMatchObject({ entries: [{ who: `approval ${id}`, status: 200 }] });
}, 120_000);

test('a challenged resolution never pays, and another one after it does, once, with two processes', async () => {
  const [, market] = listed;
  const { challenged, unchallenged } = proposals;
  const env = windowed(windowSeconds.unchallenged);
  const one = second ?? (await exchange.openOperator(env));
  const other = await exchange.openOperator(env);
  await until(async () => (await tried(market)).includes('"status":"live"'));
  // The process that pays it looks at all resolutions whose window has ended: that of the challenged one has.
  await until(async () => (await approvalOf(other, unchallenged.id)).state === 'carried_out');
  expect(Date.parse(challenged.paysAt)).toBeLessThanOrEqual(Date.parse(unchallenged.paysAt));
  expect((await approvalOf(other, challenged.id)).state).toBe('challenged');
  expect((await redeem(market)).status).not.toBe(200);
  const again = await propose(one, market, '0.3');
  await until(async () => {
    const both = await Promise.all([one, other].map((process) => approvalOf(process, again.id)));
    return both.every(({ state }) => state === 'carried_out');
  });
  expect(await redeem(market)).toMatchObject({ status: 200, body: { payout: shares } });
  for (const operator of [one, other]) {
    const resolve = (payout0: string) =>
      askOperator(operator, tokens.rita, `markets/${market.id}/resolve`, { payout0 });
    expect([(await resolve('0.3')).status, (await resolve('1')).status]).toEqual([200, 409]);
    expect((await approvalOf(operator, challenged.id)).state).toBe('challenged');
  }
  expect((await exchange.ledger.balance(trader.signer.address)).freeMicro).toBeGreaterThan(0);
}, 180_000);
