/**
 * Loaded into a process by `node --import`: once the file of `TEST_HANG_FILE` names a pipe, four calls on that pipe
 * hang until something opens it for writing: as many as there are threads for files, signatures and look-ups. The file
 * is empty then.
 */
import { open, readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['TEST_HANG_FILE'];
const readEveryMs = 50;
const threads = 4;

function follow() {
  const pipe = readFileSync(file, 'utf8');
  if (pipe === '') return;
  for (let call = 0; call < threads; call += 1) open(pipe, 'r', () => {});
  writeFileSync(file, '');
}

if (file !== undefined && isMainThread) setInterval(follow, readEveryMs).unref();
