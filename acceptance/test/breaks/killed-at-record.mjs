/**
 * Loaded into a process by `node --import`: it is killed as by SIGKILL at one of its requests that append records, which
 * the file of `TEST_KILL_FILE` names by its number from that moment on: `3 before` it is sent, `3 after` it was. The file
 * is empty afterwards.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const file = process.env['TEST_KILL_FILE'];
/** https://kafka.apache.org/protocol#protocol_api_keys */
const produceKey = 0;
const lengthBytes = 4;
const { write } = Socket.prototype;
let armed = '';
let sent = 0;

const isAppend = (chunk) =>
  Buffer.isBuffer(chunk) &&
  chunk.length > lengthBytes + 2 &&
  chunk.readInt32BE(0) === chunk.length - lengthBytes &&
  chunk.readInt16BE(lengthBytes) === produceKey;

function end() {
  writeFileSync(file, '');
  process.kill(process.pid, 'SIGKILL');
}

function writeAndCount(chunk, ...others) {
  if (!isAppend(chunk)) return write.call(this, chunk, ...others);
  const now = readFileSync(file, 'utf8');
  sent = now === armed ? sent + 1 : 1;
  armed = now;
  const [number, moment] = armed.split(' ');
  const isDue = sent === Number(number);
  if (isDue && moment === 'before') end();
  const isTaken = write.call(this, chunk, ...others);
  // The kernel has it once the loop comes back.
  if (isDue) setImmediate(end);
  return isTaken;
}

if (file !== undefined && isMainThread) Socket.prototype.write = writeAndCount;
