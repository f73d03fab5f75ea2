import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// npm run simulate -- --minutes 60 --seed 1000: simulates seed after seed for so long, and stops at the first that
// breaks a promise. --seconds is the simulated time of a run, --faults how many times as often as usual faults happen,
// --defects builds every known defect in, one after the other, and expects that each is found.
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '300' },
    faults: { type: 'string', default: '1' },
    defects: { type: 'boolean', default: false },
  },
});
for (const name of ['minutes', 'seed', 'seconds', 'faults']) {
  if (!(Number(values[name]) > 0)) {
    console.error(`--${name} is a number above 0`);
    process.exit(2);
  }
}

const root = fileURLToPath(new URL('..', import.meta.url));
const jest = join(root, 'node_modules/jest/bin/jest.js');
const pattern = values.defects ? 'simulator/test/defects' : 'simulator/test/simulation';
const child = spawn(
  process.execPath,
  [jest, '--selectProjects', 'simulator', '--runInBand', '--testPathPatterns', pattern],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PM_TEST_SEED: values.seed,
      PM_TEST_MINUTES: values.minutes,
      PM_TEST_SECONDS: values.seconds,
      PM_TEST_FAULTS: values.faults,
      ...(values.defects ? { PM_TEST_DEFECTS: 'all' } : {}),
    },
  },
);
child.on('exit', (code) => process.exit(code ?? 1));
