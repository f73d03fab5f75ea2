import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const harmless = /^[\w-]{1,64}$/;

/** Of this process; a number follows for each request. */
const prefix = randomBytes(6).toString('hex');
let count = 0;

/** The caller's id when it is harmless, otherwise one of ours. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && harmless.test(given)) return given;
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
