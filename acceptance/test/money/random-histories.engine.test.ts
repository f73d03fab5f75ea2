import { failureText, redisOfTests, runHistories } from './run-histories.ts';

const redis = redisOfTests();

/** Requests of clients in all histories; `PM_TEST_OPERATIONS` asks for another number, `PM_TEST_SEED` for a seed. */
const operationsMin = Number(
  process.env['PM_TEST_OPERATIONS'] ??
    (process.env['PM_TEST_DEEP'] === undefined ? 10_000 : 200_000),
);
const firstSeed = Number(process.env['PM_TEST_SEED'] ?? 1);

test(
  'no history of requests, retries, crashes, lost answers and lost ledgers makes money or tokens',
  async () => {
    let operations = 0;
    let seed = firstSeed;
    for (; operations < operationsMin; seed += 1) {
      const run = await runHistories(redis(), { seed });
      if (run.outcome.failed) throw new Error(failureText(run.outcome));
      operations += run.operations;
    }
    console.log(`money histories: ${operations} operations, seeds ${firstSeed} to ${seed - 1}`);
  },
  30 * 60_000,
);
