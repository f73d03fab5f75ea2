import { firstSeed, runLength } from '../../../kit/test/long-runs.ts';
import { failureText, redisOfTests, runHistories } from './run-histories.ts';

const redis = redisOfTests();

/** Requests of clients in all histories. */
const operationsMin = runLength({ test: 5_000, deep: 200_000 });
const begunAt = firstSeed(1);

test(
  'no history of requests, retries, crashes, lost answers and lost ledgers makes money or tokens',
  async () => {
    let operations = 0;
    let seed = begunAt;
    for (; operations < operationsMin; seed += 1) {
      const run = await runHistories(redis(), { seed });
      if (run.outcome.failed) throw new Error(failureText(run.outcome));
      operations += run.operations;
    }
    console.log(`money histories: ${operations} operations, seeds ${begunAt} to ${seed - 1}`);
  },
  30 * 60_000,
);
