import { spawnSync } from 'node:child_process';
import { installNode, nodeMajors } from '../local/node-versions.ts';
import { defaultCacheDir, repositoryRoot } from '../local/paths.ts';
import { jestProgram } from './jest.ts';

/**
 * `npm run test:nodes -- ARGUMENTS OF JEST`: the unit tests on each version of Node that the exchange runs on, and the
 * versions that were skipped with the reason. Exit code 1 when tests failed on one, 2 when no version could be tested.
 */
const results: { readonly name: string; readonly result: string }[] = [];

for (const major of nodeMajors) {
  const node = installNode(major, defaultCacheDir);
  if (node.kind === 'absent') {
    results.push({ name: `Node ${major}`, result: `skipped: ${node.reason}` });
    continue;
  }
  console.log(`\n== unit tests on Node ${node.version}`);
  const { status } = spawnSync(
    node.binary,
    [...jestProgram, '--selectProjects', 'unit', '--maxWorkers=2', ...process.argv.slice(2)],
    { cwd: repositoryRoot, stdio: 'inherit' },
  );
  results.push({ name: `Node ${node.version}`, result: status === 0 ? 'passed' : 'FAILED' });
}

console.log('');
for (const { name, result } of results) console.log(`${name}: ${result}`);
const isTested = results.some(({ result }) => !result.startsWith('skipped'));
const hasFailed = results.some(({ result }) => result === 'FAILED');
process.exit(hasFailed ? 1 : isTested ? 0 : 2);
