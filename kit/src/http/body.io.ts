import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BodyProblem } from './errors.io.ts';
import { nestsWithin } from './nesting.ts';
import { RepeatedBodies } from './repeated-bodies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Callers send the same body again and again, and the route only reads it: one that came before is not parsed again
     * but shared, and frozen.
     */
    repeatsBodies?: boolean;
  }
}

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
  const repeated = new RepeatedBodies();
  const parse = (request: FastifyRequest, bytes: Buffer, done: Done): void => {
    const text = bytes.toString('utf8');
    const problem = problemOf(bytes, text, maxJsonDepth);
    if (problem !== null) {
      done(problem);
      return;
    }
    request.rawBody = bytes;
    parseJson(request, text, done);
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes: Buffer, done: Done) => {
    if (request.is404 || bytes.length === 0) {
      done(null, undefined);
      return;
    }
    if (!jsonType.test(request.headers['content-type'] ?? '')) {
      done(new BodyProblem(415, 'the content type of a body is application/json'));
      return;
    }
    if (request.routeOptions.config.repeatsBodies !== true) {
      parse(request, bytes, done);
      return;
    }
    const sum = crc32(bytes);
    const known = repeated.find(sum, bytes);
    if (known !== undefined) {
      request.rawBody = bytes;
      done(null, known);
      return;
    }
    parse(request, bytes, (error, body) => {
      if (error === null) repeated.offer(sum, bytes, body);
      done(error, body);
    });
  });
}

function problemOf(bytes: Buffer, text: string, maxJsonDepth: number): BodyProblem | null {
  if (!isUtf8(bytes)) return new BodyProblem(400, 'the body is not UTF-8');
  if (!nestsWithin(text, maxJsonDepth)) {
    return new BodyProblem(400, `the body nests deeper than ${maxJsonDepth} levels`);
  }
  return null;
}
