// The MCP server: packed, installed in an empty folder and started as its README says, with the client of the official
// SDK; over HTTP with that client too.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { baseUrl, keyAt, marketAt } from './exchange.mjs';
import { installedPackage, repository } from './package.mjs';

const { folder, contents } = installedPackage('mcp');
const { conditionId, tokenIds } = marketAt(12);
const [tokenId] = tokenIds;

const page = readFileSync(join(repository, 'mcp', 'README.md'), 'utf8');
const configurations = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]) => {
  const [server] = Object.values(JSON.parse(text).mcpServers);
  return server;
});

/** Revisions of the protocol: that of 2025 with its handshake, and that of 2026 without. */
const eras = ['legacy', 'auto'];

function newClient(mode) {
  return new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
}

/** Starts the server by a configuration of the README, in the folder where the package is installed. */
async function connectStdio({ command, args, env }, mode, changed = {}) {
  const client = newClient(mode);
  const { PATH, HOME } = process.env;
  const all = {
    PATH,
    HOME,
    ...env,
    PM_EXCHANGE_URL: baseUrl,
    PM_MCP_STATE_DIR: folder,
    ...changed,
  };
  await client.connect(
    new StdioClientTransport({ command, args, cwd: folder, env: all, stderr: 'ignore' }),
  );
  return client;
}

async function call(client, name, input = {}) {
  const result = await client.callTool({ name, arguments: input });
  assert.notEqual(result.isError, true, result.content[0]?.text);
  return result.structuredContent;
}

async function codeOf(client, name, input) {
  const result = await client.callTool({ name, arguments: input });
  assert.equal(result.isError, true);
  return JSON.parse(result.content[0].text).error.code;
}

/** Every tool is listed and the reads of a market work; with the list the client checks results by their schemas. */
async function readAll(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    page.match(/^`search_markets`[\s\S]*?\.$/m)[0].match(/[a-z]+_[a-z_]+/g),
  );
  const { events } = await call(client, 'search_markets', { query: 'packages of this repository' });
  assert.ok(JSON.stringify(events).includes(conditionId));
  const { outcomes } = await call(client, 'get_market', { market: conditionId });
  assert.deepEqual(
    outcomes.map(({ token_id }) => token_id),
    tokenIds,
  );
  await call(client, 'get_book', { token_id: tokenId });
  await call(client, 'get_trades', { market: conditionId });
  const { resources } = await client.listResources();
  assert.equal(resources.length, 5);
  for (const { uri } of resources) {
    const { contents: read } = await client.readResource({ uri });
    assert.ok(read[0].text.length > 100, uri);
  }
}

test('the archive has the program, its pages and what a reader needs, and nothing else', () => {
  const pages = ['fees', 'glossary', 'limits', 'rules'].map((name) => `documents/${name}.md`);
  const wanted = ['LICENSE', 'README.md', 'dist/stdio/serve.js', ...pages, 'package.json'];
  assert.deepEqual(
    contents(),
    wanted.map((name) => `package/${name}`),
  );
});

for (const era of eras) {
  test(`the installed package reads over stdio (${era})`, async () => {
    const client = await connectStdio(configurations[0], era);
    try {
      await readAll(client);
      const order = { token_id: tokenId, side: 'BUY', price: '0.05', size: '20' };
      assert.equal(
        await codeOf(client, 'place_order', { ...order, preview_id: 'x' }),
        'trading_off',
      );
    } finally {
      await client.close();
    }
  });

  test(`the exchange serves the same over HTTP (${era})`, async () => {
    const client = newClient(era);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`)));
    try {
      await readAll(client);
    } finally {
      await client.close();
    }
  });
}

test('the installed package trades within the limits of its owner', async () => {
  const keyFile = join(folder, 'wallet.key');
  writeFileSync(keyFile, `${keyAt(9)}\n`, { mode: 0o600 });
  const given = { PM_MCP_WALLET_KEY_FILE: keyFile, PM_MCP_MARKETS: conditionId };
  const client = await connectStdio(configurations[1], 'auto', given);
  try {
    await client.listTools();
    const order = { token_id: tokenId, side: 'BUY', price: '0.05', size: '20' };
    const preview = await call(client, 'preview_order', order);
    assert.equal(preview.placeable, true, JSON.stringify(preview));
    const placed = await call(client, 'place_order', { ...order, preview_id: preview.preview_id });
    const { status } = await call(client, 'get_order', { order_id: placed.order_id });
    assert.match(status, /live/i);
    await call(client, 'cancel_orders', { order_ids: [placed.order_id] });
    const tooLarge = await call(client, 'preview_order', { ...order, price: '0.5', size: '100' });
    assert.equal(tooLarge.placeable, false);
  } finally {
    await client.close();
  }
});

test('a wallet key without limits ends the program with a message', async () => {
  const program = join(folder, 'node_modules/.bin/prediction-exchange-mcp');
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, PM_MCP_WALLET_KEY: keyAt(9) };
  const { code, text } = await new Promise((resolve) => {
    execFile(program, [], { cwd: folder, env, timeout: 20_000 }, (error, _, stderr) => {
      resolve({ code: error?.code, text: stderr });
    });
  });
  assert.equal(code, 2);
  assert.match(text, /PM_MCP_MARKETS/);
  assert.ok(!text.includes(keyAt(9).slice(2)));
});
