// Our client as other projects get it: packed, installed in an empty folder, and every snippet of its README run.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const repository = join(import.meta.dirname, '..', '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'exchange-client-package-'));
const baseUrl = process.env.EXCHANGE_BASE;

function run(command, args, cwd = folder) {
  const env = { ...process.env, EXCHANGE_URL: baseUrl };
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', timeout: 120_000 });
}

before(() => {
  const pack = join(repository, 'operate/dist/commands/pack-client.js');
  const args = ['--folder', join(folder, 'contents'), '--to', folder];
  const archive = run(process.execPath, [pack, ...args], repository).trim();
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', archive]);
});

after(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(join(repository, 'client', 'README.md'), 'utf8');
const snippets = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code);

test('the README has snippets', () => assert.ok(snippets.length >= 3));

for (const [index, code] of snippets.entries()) {
  test(`snippet ${index + 1} of the README runs in an empty folder`, () => {
    const file = join(folder, `snippet-${index + 1}.js`);
    writeFileSync(file, code);
    assert.notEqual(run(process.execPath, [file]).trim(), '');
  });
}

test('its declarations need no others, not even those of Node', () => {
  const lines = [
    "import { ExchangeClient } from 'prediction-exchange-client';",
    "const client = new ExchangeClient({ baseUrl: 'http://127.0.0.1' });",
    "for await (const book of client.stream.book('1')) { const seq: number = book.seq; seq.toFixed(); }",
    '// @ts-expect-error prices are text',
    "await client.placeOrder({ tokenId: '1', side: 'BUY', price: 0.5, size: '1' });",
  ];
  writeFileSync(join(folder, 'use.ts'), lines.join('\n'));
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'];
  run(process.execPath, [compiler, ...strict, '--types', '', '--lib', 'es2023,dom', 'use.ts']);
});
