// Published clients in Python, in an environment of their own; without one, each of them is skipped with the reason.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writeComments } from './comments.mjs';
import { keyAt, setting } from './exchange.mjs';

const folder = fileURLToPath(new URL('../python/', import.meta.url));
const python = process.env.EXCHANGE_PYTHON ?? '';
const skip = python === '' ? setting('EXCHANGE_PYTHON_ABSENT') : false;
const walletKeys = JSON.stringify(Array.from({ length: 10 }, (_, index) => keyAt(index)));

/** Output of a file of Python tests, one line of JSON per test. */
function results(file) {
  const env = { ...process.env, EXCHANGE_WALLET_KEYS: walletKeys, PYTHONDONTWRITEBYTECODE: '1' };
  return new Promise((resolve, reject) => {
    execFile(python, [file], { cwd: folder, env, timeout: 150_000 }, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`${file} broke: ${stderr}`));
      else
        resolve(
          stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        );
    });
  });
}

const clients = [
  ['py-clob-client-v2', 'clob_client_v2.py'],
  ['polymarket-client', 'unified.py'],
];

for (const [client, file] of clients) {
  test(client, { skip }, async (t) => {
    await writeComments('compat-plain');
    const tests = await results(file);
    assert.ok(tests.length > 0);
    for (const { title, skip: reason, failure } of tests) {
      await t.test(title, { skip: reason ?? false }, () => {
        if (failure !== null) assert.fail(failure);
      });
    }
  });
}
