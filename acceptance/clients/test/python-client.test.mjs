// The client in Python of this repository against the exchange: its tests, and its README with the built wheel in an
// environment of its own. Skipped without the environments that test:python makes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { baseUrl } from './exchange.mjs';
import { repository } from './package.mjs';

const environments = join(repository, '.cache/python-client');
const pythonOf = (name) => join(environments, name, 'bin/python');
const skipOf = (name) =>
  existsSync(pythonOf(name)) ? false : 'no environment: npm run test:python makes it';

async function run(python, args, cwd) {
  const env = { ...process.env, PM_BASE_URL: baseUrl, PYTHONDONTWRITEBYTECODE: '1' };
  const failure = await new Promise((resolve) => {
    execFile(python, args, { cwd, env, timeout: 170_000 }, (error, stdout, stderr) => {
      resolve(error === null ? null : `${error.message}\n${stdout}\n${stderr}`);
    });
  });
  if (failure !== null) assert.fail(failure);
}

test('client-python', { skip: skipOf('environment') }, async () => {
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests/test_real_exchange.py'];
  await run(pythonOf('environment'), args, join(repository, 'client-python'));
});

test('the README runs with the wheel', { skip: skipOf('wheel') }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'exchange-wheel-'));
  try {
    const script = join(repository, 'client-python/scripts/run_readme.py');
    await run(pythonOf('wheel'), ['-I', script, baseUrl], folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
