// The official conformance suite of MCP against `/mcp`: every scenario that does not need a tool of the suite's own.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { baseUrl } from './exchange.mjs';
import { nodeOf } from './package.mjs';

/** Scenarios of the suite that need no tool of its own. */
const scenarios = [
  ['2025-11-25', 'server-initialize'],
  ['2025-11-25', 'ping'],
  ['2025-11-25', 'tools-list'],
  ['2025-11-25', 'resources-list'],
  ['2025-11-25', 'dns-rebinding-protection'],
  ['2026-07-28', 'tools-list'],
  ['2026-07-28', 'resources-list'],
  ['2026-07-28', 'server-stateless'],
  ['2026-07-28', 'server-sse-multiple-streams'],
  ['2026-07-28', 'sep-2164-resource-not-found'],
  ['2026-07-28', 'caching'],
  ['2026-07-28', 'http-header-validation'],
];

/** Checks of them that call tools named `test_…`, or prompts, which this server does not have. */
const untestable = new Set([
  'sep-2549-prompts-list-caching-hints',
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
]);

// The suite uses what Node 20 does not have.
const node = nodeOf(24);
const skip = node.kind === 'ready' ? false : node.reason;
const suite = join(import.meta.dirname, '../node_modules/.bin/conformance');

async function checksOf(revision, scenario) {
  const results = mkdtempSync(join(tmpdir(), 'exchange-mcp-conformance-'));
  const what = ['--spec-version', revision, '--scenario', scenario, '--output-dir', results];
  const args = [suite, 'server', '--url', `${baseUrl}/mcp`, ...what];
  try {
    await new Promise((resolve) => {
      execFile(node.binary, args, { timeout: 90_000 }, resolve);
    });
    const [run] = readdirSync(results);
    return JSON.parse(readFileSync(join(results, run, 'checks.json'), 'utf8'));
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

for (const [revision, scenario] of scenarios) {
  test(`conformance of revision ${revision}: ${scenario}`, { skip }, async () => {
    const checks = await checksOf(revision, scenario);
    const failed = checks.filter(({ id, status }) => status === 'FAILURE' && !untestable.has(id));
    assert.deepEqual(failed, []);
    assert.ok(checks.some(({ status }) => status === 'SUCCESS'));
  });
}
