import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BodyProblem } from './errors.io.ts';

/** The body of a request that has none. */
export const noBytes: Buffer = Buffer.alloc(0);
const jsonType = /^application\/json[\t ]*(;[\t ]*charset="?utf-8"?[\t ]*)?$/i;

type Done = (error: Error | null, body?: unknown) => void;

/**
 * Accepts bodies as JSON only, keeps their bytes, and parses them once. An empty body is no body, whatever its
 * content type: clients send the header with every DELETE (conventions.md 1.2). Repeated keys: the last one counts
 * (RFC 8259 4).
 */
export function takeJsonBodies(app: FastifyInstance, maxJsonDepth: number): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes: Buffer, done: Done) => {
    if (request.is404 || bytes.length === 0) {
      done(null, undefined);
      return;
    }
    const problem = problemOf(request, bytes, maxJsonDepth);
    if (problem !== null) {
      done(problem);
      return;
    }
    request.rawBody = bytes;
    parseJson(request, bytes.toString('utf8'), done);
  });
}

function problemOf(
  request: FastifyRequest,
  bytes: Buffer,
  maxJsonDepth: number,
): BodyProblem | null {
  if (!jsonType.test(request.headers['content-type'] ?? '')) {
    return new BodyProblem(415, 'the content type of a body is application/json');
  }
  if (!isUtf8(bytes)) return new BodyProblem(400, 'the body is not UTF-8');
  if (!nestsWithin(bytes, maxJsonDepth)) {
    return new BodyProblem(400, `the body nests deeper than ${maxJsonDepth} levels`);
  }
  return null;
}

const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const openObject = 0x7b;
const closeList = 0x5d;
const closeObject = 0x7d;

/** Whether no more than `maxDepth` arrays and objects are open at once. The parser refuses text that is not JSON. */
function nestsWithin(bytes: Buffer, maxDepth: number): boolean {
  let depth = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === quote) {
      index = endOfText(bytes, index);
    } else if (byte === openObject || byte === openList) {
      depth += 1;
      if (depth > maxDepth) return false;
    } else if (byte === closeObject || byte === closeList) {
      depth -= 1;
    }
  }
  return true;
}

/** The index of the closing quote of the string whose opening quote is at `start`. */
function endOfText(bytes: Buffer, start: number): number {
  let index = start + 1;
  let byte = bytes[index];
  while (byte !== undefined && byte !== quote) {
    index += byte === backslash ? 2 : 1;
    byte = bytes[index];
  }
  return index;
}
