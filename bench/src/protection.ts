import { sealedOutputEvery } from '@pm/schemas/log/executions';
import { ledgerSteps, measureInRedis, openBareRedis, proofSteps } from './protection/in-redis.ts';
import { envelopeSteps, outputSteps, sealSteps } from './protection/seals.ts';
import { foldSteps, tradedBatches, withFoldsWithoutSums } from './protection/solvency.ts';
import { costTable, measureSteps } from './protection/steps.ts';
import { readArguments } from './report/arguments.ts';
import { publish } from './report/report.ts';

/**
 * `npm run bench:protection`: what signatures, seals, the solvency check and the memory of used proofs cost, each
 * beside the same without it.
 */
const given = readArguments({
  rounds: { default: 7, min: 1, max: 50 },
  seconds: { default: 0.3, min: 0.05, max: 10 },
});
const rounds = { rounds: given.number('rounds'), seconds: given.number('seconds') };

const batches = tradedBatches();
const parts = [
  ['Seal of a record of authority, microseconds of processor time', sealSteps()],
  ['Signature of an envelope with its schema, microseconds of processor time', envelopeSteps()],
  ['Seal of outputs by the owner, microseconds of processor time a record', outputSteps()],
  ['Solvency check in the fold, microseconds of processor time a batch', foldSteps(batches)],
] as const;
const measured = parts.map(([title, steps]) => {
  const samples = withFoldsWithoutSums(measureSteps(steps, rounds), batches);
  return { table: costTable(title, steps, samples), samples };
});

const { redis, close } = await openBareRedis();
try {
  const proofs = await proofSteps(redis);
  const proofSamples = await measureInRedis(redis, proofs, rounds);
  const applied = await ledgerSteps(redis, batches);
  const appliedSamples = await measureInRedis(redis, applied, rounds);
  const inRedis = [
    {
      title: 'Solvency check in the script of the ledger',
      steps: applied,
      samples: appliedSamples,
    },
    { title: 'Memory of used proofs', steps: proofs, samples: proofSamples },
  ].flatMap(({ title, steps, samples }) => [
    {
      table: costTable(
        `${title}, microseconds of Redis' processor a call`,
        steps,
        samples.processor,
      ),
      samples: samples.processor,
    },
    {
      table: costTable(`${title}, microseconds until the answer`, steps, samples.waited),
      samples: samples.waited,
    },
  ]);
  const all = [...measured, ...inRedis];
  publish(
    {
      name: 'protection',
      title: 'What protection of money and authority costs',
      conditions: [
        `${rounds.rounds} rounds in turn, ${rounds.seconds} s of each step; min, median and max of the rounds, ratio and difference as medians of those of each round. The first four tables: processor time of one thread. The others: calls to one Redis on the same machine from one connection.`,
        'A record of authority: 140 bytes. Envelopes: orders and cancels of 16 markets. Records of outputs and batches: the real engine on such a stream, 16 markets and 64 wallets.',
        `The owner seals its first output, then one of ${sealedOutputEvery} or one a second.`,
        'The fold without the sums is the whole fold less the sums alone. In Redis the same batches are applied to two partitions of one open ledger, with the sums of markets and without them; decoding and Kafka are not included.',
        'Used proofs: 30,000 are known before. One at a time counts the way there and back, many at once what each costs Redis and its client.',
      ],
      tables: all.map(({ table }) => table),
      notes: [],
      figures: Object.fromEntries(
        all.map(({ table, samples }) => [table.title, Object.fromEntries(samples)]),
      ),
    },
    given,
  );
} finally {
  await close();
}
