import { runSeed } from './run.ts';

const seed = Number(process.env['PM_TEST_SEED'] ?? 1);

test('a run with faults of every kind keeps every promise', async () => {
  const figures = await runSeed({ seed, forMs: 60_000 });
  expect(figures.done).toBeGreaterThan(100);
}, 600_000);
