// The client in Python of this repository against the exchange; skipped without the environment of test:python.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { baseUrl } from './exchange.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const python = `${root}.cache/python-client/environment/bin/python`;
const skip = existsSync(python) ? false : 'no environment: npm run test:python makes it';
const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests/test_real_exchange.py'];

test('client-python', { skip }, async () => {
  const env = { ...process.env, PM_BASE_URL: baseUrl, PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd: `${root}client-python`, env, timeout: 170_000 };
  const failure = await new Promise((resolve) => {
    execFile(python, args, options, (error, stdout, stderr) => {
      resolve(error === null ? null : `${stdout}\n${stderr}`);
    });
  });
  if (failure !== null) assert.fail(failure);
});
