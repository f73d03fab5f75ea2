import { type BrotliOptions, brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { HttpApp } from './app.io.ts';
import { type ContentCoding, contentCodingFor } from './content-coding.ts';

/** Shorter bodies are sent as they are, bytes: they would save less than two packets. */
const compressedMinBytes = 4 * 1024;

/** The fastest levels: a list of 83 kB becomes 9 to 10 kB in 0.1 to 0.2 ms, and hardly less at higher ones. */
const gzipOptions = { level: constants.Z_BEST_SPEED };
const brotliOptions: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

type Done = (error: Error | null, payload?: unknown) => void;

/**
 * Compresses good JSON responses as the client accepts it. What the express lane sends are stored bytes, which stay as
 * they are. Call it before the routes are added.
 */
export function compressResponses(app: HttpApp): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = bytesOf(reply, payload);
    if (bytes === null) {
      done(null, payload);
      return;
    }
    void reply.header('vary', 'accept-encoding');
    const coding = contentCodingFor(request.headers['accept-encoding']);
    if (coding === null) done(null, payload);
    else compress(bytes, coding, (error, packed) => send(reply, { coding, error, packed }, done));
  });
}

/** The bytes of a body that is worth it; null for every other one. */
function bytesOf(reply: FastifyReply, payload: unknown): Buffer | null {
  if (reply.statusCode !== 200 || reply.hasHeader('content-encoding')) return null;
  if (!String(reply.getHeader('content-type')).startsWith('application/json')) return null;
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return null;
  if (payload.length < compressedMinBytes) return null;
  return Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
}

function compress(
  bytes: Buffer,
  coding: ContentCoding,
  done: (error: Error | null, packed: Buffer) => void,
): void {
  if (coding === 'br') brotliCompress(bytes, brotliOptions, done);
  else gzip(bytes, gzipOptions, done);
}

interface Packed {
  readonly coding: ContentCoding;
  readonly error: Error | null;
  readonly packed: Buffer;
}

function send(reply: FastifyReply, { coding, error, packed }: Packed, done: Done): void {
  if (error !== null) {
    done(error);
    return;
  }
  void reply.header('content-encoding', coding).removeHeader('content-length');
  done(null, packed);
}
