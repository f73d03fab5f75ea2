import { openOrderCrypto, openWithoutBinaries } from '@pm/domain/orders/order-crypto.io';
import { ordersPerRequestMax } from '@pm/schemas/http/trading';
import { connectionCounts, type LoopResult, runLoops } from './orders/batches.ts';
import { openOwnChecks } from './orders/own-checks.ts';
import {
  binarySteps,
  measureSteps,
  nameWithout,
  ownSteps,
  stepNames,
  stepsWithout,
  viemWhole,
} from './orders/rates.ts';
import { sampleBatches, sampleRequests } from './orders/sample.ts';
import { hashByViem, wholeByViem } from './orders/viem-checks.ts';
import { readArguments } from './report/arguments.ts';
import { ratioText, spreadOf, spreadText } from './report/numbers.ts';
import { publish, type Table } from './report/report.ts';

/**
 * `npm run bench:orders`: the checks of one order in ingress, against viem and their bare parts; batches against
 * singles.
 */
const given = readArguments({
  rounds: { default: 5, min: 1, max: 50 },
  seconds: { default: 0.3, min: 0.05, max: 10 },
  loopRounds: { default: 2, min: 1, max: 20 },
  loopSeconds: { default: 2, min: 1, max: 30 },
});
const rules = { rounds: given.number('rounds'), seconds: given.number('seconds') };

const nowMs = Date.now();
const requests = sampleRequests(nowMs);
const own = openOwnChecks(nowMs, requests, openOrderCrypto());
const without = openOwnChecks(nowMs, requests, openWithoutBinaries());

// A checker that disagrees about a sample has no figure.
for (const request of requests) {
  await wholeByViem(request);
  const id = `0x${own.whole(request).toString('hex')}`;
  if (id !== hashByViem(request)) throw new Error('ours and viem hash an order differently');
}

const batches = sampleBatches(requests, nowMs);
const steps = new Map([
  ...ownSteps(own, requests, batches),
  ...stepsWithout(ownSteps(without, requests, batches)),
]);
const rates = await measureSteps(steps, requests, rules);
const loops = await runLoops(given.number('loopRounds'), given.number('loopSeconds'));

/** Median of the quotients of each round: load on the machine slows both down. */
function quotient(name: string, other: string): number {
  const others = rates.get(other) ?? [];
  const one = rates.get(name) ?? [];
  return spreadOf(one.map((rate, round) => rate / (others[round] ?? Number.NaN))).median;
}

publish(
  {
    name: 'orders',
    title: 'Order validation on one thread, against viem; batches against singles',
    conditions: [
      `${requests.length} signed single orders of 16 wallets, about ${requests[0]?.body.length ?? 0} bytes of JSON each, made ahead of time.`,
      'Whole order, ours: five headers, key, passphrase, time, HMAC over the raw body, JSON.parse, schema, form, every rule of an order (market, amounts, tick, expiry, signer), EIP-712 hash, signature under the first accepted domain.',
      'Whole order, viem: HMAC over the raw body, JSON.parse, verifyTypedData; no headers, schema or rules.',
      'Not included in the first four tables: HTTP, worker threads, rate limits, the ledger, Kafka.',
      `${rules.rounds} rounds in turn, ${rules.seconds} s each after a fifth of it uncounted; per second of processor time, min / median / max. Ratios: median of the quotients of each round.`,
    ],
    tables: [viemTable(), bareTable(), binaryTable(), batchTable(), loopTable(loops)],
    notes: [
      'Ours and viem give the same verdict and the same hash for every order of the sample.',
      `Closed loop: straight at ingress over connections that stay open, 8 partitions, ${given.number('loopRounds')} rounds of ${given.number('loopSeconds')} s after one to warm up, singles and batches in turn; BUYs of both tokens at a half, so every second order is a fill; every order waits for its own result from the log. Orders signed ahead, HMAC at the time of sending. The load generator runs on the same cores; rate limits are on, at 10,000 times the table.`,
    ],
    figures: { rates: Object.fromEntries(rates), loops },
  },
  given,
);

function viemTable(): Table {
  return {
    title: 'Runs a second (target: a whole order 27x viem)',
    head: ['step', 'a second', 'against viem, whole'],
    rows: [...rates].map(([name, samples]) => [
      name,
      spreadText(spreadOf(samples)),
      ratioText(quotient(name, viemWhole)),
    ]),
  };
}

function bareTable(): Table {
  const pairs = [
    [stepNames.hash, stepNames.keccak],
    [stepNames.signature, stepNames.recover],
    [stepNames.proof, stepNames.hmac],
  ] as const;
  return {
    title: 'Parts against their bare cost (1 is the ceiling)',
    head: ['part', 'bare', 'ratio'],
    rows: pairs.map(([part, bare]) => [part, bare, ratioText(quotient(part, bare))]),
  };
}

function binaryTable(): Table {
  return {
    title:
      'Where keccak and secp256k1 have no binary (JavaScript and WebAssembly), against with it',
    head: ['step', 'ratio'],
    rows: binarySteps.map((step) => [step, ratioText(quotient(nameWithout(step), step))]),
  };
}

function batchTable(): Table {
  const perOrder = ordersPerRequestMax * quotient(stepNames.batch, stepNames.whole);
  return {
    title: 'Orders a second of processor time in batches of 15 against singles, checks alone',
    head: ['what', 'ratio'],
    rows: [['orders in batches / singles', ratioText(perOrder)]],
  };
}

function loopTable(results: readonly LoopResult[]): Table {
  const of = (connections: number, perRequest: number) =>
    results.filter((one) => one.connections === connections && one.perRequest === perRequest);
  const rate = (loop: readonly LoopResult[]) => spreadOf(loop.map((one) => one.ordersPerSecond));
  return {
    title: 'Orders placed a second over HTTP, closed loop (target: batches 4x singles)',
    head: ['connections', 'singles', 'batches of 15', 'ratio', 'requests not placed whole'],
    rows: connectionCounts.map((connections) => {
      const [singles, batches] = [of(connections, 1), of(connections, ordersPerRequestMax)];
      const ratios = batches.map(
        (one, at) => one.ordersPerSecond / (singles[at]?.ordersPerSecond ?? Number.NaN),
      );
      return [
        String(connections),
        spreadText(rate(singles)),
        spreadText(rate(batches)),
        ratioText(spreadOf(ratios).median),
        failuresText([...singles, ...batches]),
      ];
    }),
  };
}

function failuresText(loops: readonly LoopResult[]): string {
  const counts = loops.flatMap(({ failed }) => Object.entries(failed));
  if (counts.length === 0) return '0';
  return counts.map(([status, count]) => `${status}: ${count}`).join(', ');
}
