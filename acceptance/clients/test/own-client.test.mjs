// Our client as other projects get it: every snippet of its README and every example of a stream runs with the package,
// its types are found, and each version of Node reads streams with its own WebSocket or with that of the package ws.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExchangeClient, walletFromPrivateKey } from '../../../client/dist/index.js';
import { nodeMajors } from '../../../deploy/dist/local/node-versions.js';
import { baseUrl, keyAt, marketAt } from './exchange.mjs';
import { installedPackage, nodeOf, repository } from './package.mjs';

const { folder, run, contents } = installedPackage('client', { EXCHANGE_URL: baseUrl });
const { conditionId, tokenIds } = marketAt(11);

const page = readFileSync(join(repository, 'client', 'README.md'), 'utf8');
const snippets = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code);

test('the archive has code, types and what a reader needs, and nothing else', () => {
  const names = contents();
  const plain = names.filter((name) => !/^package\/types\/(client|schemas)\/.+\.d\.ts$/.test(name));
  const wanted = ['LICENSE', 'README.md', 'dist/index.js', 'package.json'];
  assert.deepEqual(
    plain,
    wanted.map((name) => `package/${name}`),
  );
  assert.ok(names.length > plain.length);
});

test('the README has snippets', () => assert.ok(snippets.length >= 3));

for (const [index, code] of snippets.entries()) {
  test(`snippet ${index + 1} of the README runs in an empty folder`, () => {
    const file = join(folder, `snippet-${index + 1}.js`);
    writeFileSync(file, code);
    assert.notEqual(run(process.execPath, [file]).trim(), '');
  });
}

const compiler = join(repository, 'node_modules/typescript/bin/tsc');
const strict = ['--noEmit', '--strict', '--target', 'es2023', '--types', '', '--lib', 'es2023,dom'];

for (const [name, options] of [
  ['nodenext', ['--module', 'nodenext']],
  ['node16', ['--module', 'node16']],
  ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
]) {
  test(`its declarations are found by ${name} and need no others, not even those of Node`, () => {
    const lines = [
      "import { ExchangeClient } from 'prediction-exchange-client';",
      "const client = new ExchangeClient({ baseUrl: 'http://127.0.0.1' });",
      "for await (const book of client.stream.book('1')) { const seq: number = book.seq; seq.toFixed(); }",
      '// @ts-expect-error prices are text',
      "await client.placeOrder({ tokenId: '1', side: 'BUY', price: 0.5, size: '1' });",
    ];
    writeFileSync(join(folder, 'use.ts'), lines.join('\n'));
    run(process.execPath, [compiler, ...strict, ...options, 'use.ts']);
  });
}

for (const major of nodeMajors) {
  const node = nodeOf(major);
  const skip = node.kind === 'ready' ? false : node.reason;
  test(`Node ${major} reads a stream`, { skip }, () => {
    const hidden = join(folder, 'node_modules', '.ws');
    const there = join(folder, 'node_modules', 'ws');
    const hasOwn = run(node.binary, ['-p', 'typeof WebSocket']).trim() === 'function';
    assert.equal(hasOwn, major >= 22);
    const file = join(folder, `stream-${major}.js`);
    writeFileSync(
      file,
      snippets.find((code) => code.includes('client.stream.book')),
    );
    // A version with a WebSocket of its own needs no package.
    if (hasOwn) renameSync(there, hidden);
    try {
      assert.match(run(node.binary, [file]), /^\d+ /);
    } finally {
      if (hasOwn) renameSync(hidden, there);
    }
  });
}

/** The key of each channel that its example follows. */
const keysOf = (eventId) => ({
  book: [tokenIds[0]],
  best: [tokenIds[0]],
  orders: [conditionId],
  trades: [conditionId],
  activity: [conditionId],
  comments: [eventId],
  markets: [],
  own: [],
});
const examples = readdirSync(join(repository, 'client/examples/streams'));

/** Starts an example that ends after two messages, and collects its output. */
function startExample(name, args) {
  const child = spawn(process.execPath, [join('examples', name), ...args, baseUrl, '2'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const running = { name, text: '', isOver: false, code: null };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      running.text += data;
    });
  }
  child.on('exit', (code) => Object.assign(running, { isOver: true, code }));
  return { running, end: () => child.kill() };
}

async function trader(index) {
  const client = new ExchangeClient({ baseUrl, signer: walletFromPrivateKey(keyAt(index)) });
  await client.connect();
  return client;
}

/** A trade that both sides were new to, and a comment. */
async function happen([maker, taker], eventId) {
  const order = { side: 'BUY', price: '0.5', size: '10' };
  const made = await maker.placeOrder({ ...order, tokenId: tokenIds[0] });
  assert.equal(made.success, true, made.errorMsg);
  const taken = await taker.placeOrder({ ...order, tokenId: tokenIds[1] });
  assert.equal(taken.success, true, taken.errorMsg);
  await maker.comments.write({
    parent_entity_type: 'Event',
    parent_entity_id: eventId,
    body: 'Something happens.',
    client_id: `packages-${Date.now()}`,
  });
}

test('there is an example of each channel', () => {
  assert.deepEqual(
    examples.sort(),
    Object.keys(keysOf(''))
      .map((name) => `${name}.mjs`)
      .sort(),
  );
});

test('every example of a stream prints what happens on the exchange', async () => {
  cpSync(join(repository, 'client/examples/streams'), join(folder, 'examples'), {
    recursive: true,
  });
  for (const name of examples) {
    const file = join(folder, 'examples', name);
    const code = readFileSync(file, 'utf8');
    writeFileSync(file, code.replace('../../dist/index.js', 'prediction-exchange-client'));
  }
  const [event] = await (await fetch(`${baseUrl}/events?slug=compat-packages`)).json();
  const keys = keysOf(event.id);
  // Examples read the first Hardhat account.
  const traders = [await trader(0), await trader(8)];
  const started = examples.map((name) => startExample(name, keys[name.replace('.mjs', '')]));
  try {
    for (let round = 1; round <= 40 && started.some(({ running }) => !running.isOver); round += 1) {
      await happen(traders, event.id);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    for (const { running } of started) {
      const { name, text, code } = running;
      assert.equal(code, 0, `${name}: ${text}`);
      assert.equal(text.trim().split('\n').length, 2, `${name}: ${text}`);
      assert.doesNotMatch(text, /undefined|Error/, name);
    }
  } finally {
    for (const { end } of started) end();
  }
});
