/**
 * Loaded into a process by `node --import`: it stands still at one of its requests that append records. The file of
 * `TEST_STOP_FILE` names it by its number from that moment on: `3 before` it is sent, `3 after` it was. The file is
 * empty then.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const file = process.env['TEST_STOP_FILE'];
/** https://kafka.apache.org/protocol#protocol_api_keys */
const produceKey = 0;
/** Versions that the client sends, and the bytes of a request at most. */
const [versionMin, versionMax, bytesMax] = [3, 13, 1 << 24];
const headBytes = 8;
const { write } = Socket.prototype;
let armed = '';
let sent = 0;

/** Its first part: length, key, version. What follows comes in the same step. */
function isAppend(chunk) {
  if (!Buffer.isBuffer(chunk) || chunk.length < headBytes) return false;
  const [length, key, version] = [chunk.readInt32BE(0), chunk.readInt16BE(4), chunk.readInt16BE(6)];
  const isRequest = length + 4 >= chunk.length && length < bytesMax;
  return isRequest && key === produceKey && version >= versionMin && version <= versionMax;
}

function stop() {
  writeFileSync(file, '');
  process.kill(process.pid, 'SIGSTOP');
}

function writeAndCount(chunk, ...others) {
  if (!isAppend(chunk)) return write.call(this, chunk, ...others);
  const now = readFileSync(file, 'utf8');
  sent = now === armed ? sent + 1 : 1;
  armed = now;
  const [number, moment] = armed.split(' ');
  const isDue = sent === Number(number);
  if (isDue && moment === 'before') stop();
  const isTaken = write.call(this, chunk, ...others);
  // The kernel has it once the loop comes back.
  if (isDue) setImmediate(stop);
  return isTaken;
}

if (file !== undefined && isMainThread) Socket.prototype.write = writeAndCount;
