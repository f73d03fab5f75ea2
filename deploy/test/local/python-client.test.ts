import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPythonClient } from '../../src/local/python-client.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'python-client-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A `python3` that is a shell script; null for none. */
function fakePython(script: string | null): string {
  const file = join(folder, 'python3');
  if (script === null) return file;
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

test.each([
  ['no Python', null, 'no Python 3.11 or newer on the PATH'],
  ['an old Python', 'echo 3.10.9', 'python3 on the PATH is 3.10.9, and 3.11 or newer is needed'],
  [
    'a Python without venv',
    'case "$2" in *venv*) exit 1 ;; *) echo 3.12.1 ;; esac',
    'python3 cannot make an environment: install python3-venv',
  ],
  [
    'a registry that is away',
    'case "$1" in -c) echo 3.12.1 ;; *) echo "ERROR: no network"; echo hint; exit 1 ;; esac',
    'ERROR: no network',
  ],
])('with %s the reason is one line', (_, script, reason) => {
  const python = installPythonClient(folder, fakePython(script));
  expect(python).toEqual({ kind: 'absent', reason: expect.stringMatching(`${reason}$`) });
});
