import { openOwnChecks } from './orders/own-checks.ts';
import { measureSteps, ownSteps, viemWhole } from './orders/rates.ts';
import { sampleRequests } from './orders/sample.ts';
import { hashByViem, wholeByViem } from './orders/viem-checks.ts';
import { readArguments } from './report/arguments.ts';
import { ratioText, spreadOf, spreadText } from './report/numbers.ts';
import { publish } from './report/report.ts';

/** `npm run bench:orders`: the checks of one order at the door, against viem and against their bare parts. */
const given = readArguments({
  rounds: { default: 5, min: 1, max: 50 },
  seconds: { default: 0.3, min: 0.05, max: 10 },
});
const rules = { rounds: given.number('rounds'), seconds: given.number('seconds') };

const nowMs = Date.now();
const requests = sampleRequests(nowMs);
const own = openOwnChecks(nowMs);

// Whoever disagrees about a sample has no figure.
for (const request of requests) {
  await wholeByViem(request);
  const id = `0x${own.whole(request, own.rules.known).toString('hex')}`;
  if (id !== hashByViem(request)) throw new Error('ours and viem hash an order differently');
}

const rates = await measureSteps(ownSteps(own, requests), requests, rules);
const spreads = new Map([...rates].map(([name, samples]) => [name, spreadOf(samples)]));
const viem = spreads.get(viemWhole)?.median ?? Number.NaN;

publish(
  {
    name: 'orders',
    title: 'Order validation on one thread, against viem',
    conditions: [
      `${requests.length} signed single orders of 16 wallets, about ${requests[0]?.body.length ?? 0} bytes of JSON each, made ahead of time.`,
      'Whole order, ours: five headers, passphrase, HMAC over the raw body, JSON.parse, schema, form, every rule of the door (market, amounts, tick, expiry, signer), EIP-712 hash, signature under the first accepted domain.',
      'Whole order, viem: HMAC over the raw body, JSON.parse, verifyTypedData; no headers, schema or rules.',
      'Not included: HTTP, worker threads, the ledger, Kafka.',
      `${rules.rounds} rounds in turn, ${rules.seconds} s each; per second of processor time, min / median / max.`,
    ],
    tables: [
      {
        title: 'Orders a second (target: 15x viem)',
        head: ['step', 'a second', 'against viem, whole'],
        rows: [...spreads].map(([name, spread]) => [
          name,
          spreadText(spread),
          ratioText(spread.median / viem),
        ]),
      },
    ],
    notes: ['Ours and viem give the same verdict and the same hash for every order of the sample.'],
    figures: Object.fromEntries(spreads),
  },
  given,
);
