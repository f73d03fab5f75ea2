import { Agent } from 'node:https';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Fault } from '../fault/index.ts';
import { assertSize } from './folder-store.io.ts';
import { assertFolderName, assertObjectName, objectLimits } from './names.ts';
import type { ObjectStore } from './object-store.io.ts';
import { sha256Of, slicesOf } from './slices.io.ts';

/** A place of a store that speaks the API of S3. */
export interface S3Place {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  /** Endpoint of a store that is not that of AWS; its buckets are paths. */
  readonly endpoint?: string;
  /** Without it the client looks for those of the machine: the role of an instance or of a pod. */
  readonly account?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Authorities that sign the certificate of the endpoint, PEM. */
  readonly ca?: string;
}

/** A connection without a byte for so long has failed, milliseconds. */
const silenceMs = 15_000;
const connectionsMax = 8;
const retryMs = 250;

/** Failures are faults with a reason; the client writes lines of its own otherwise. */
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** The package is large, and few processes use it: it is loaded with the first store. */
const loadSdk = () => import('@aws-sdk/client-s3');
type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Opens a place; nothing is asked of the store yet. */
export async function openS3Store(place: S3Place): Promise<ObjectStore> {
  const sdk = await loadSdk();
  return new S3Store(place, sdk, clientOf(place, sdk));
}

function clientOf({ region, endpoint, account, ca }: S3Place, { S3Client: Client }: Sdk): S3Client {
  return new Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(account === undefined ? {} : { credentials: account }),
    // Attempts are counted here, where the body can be made again.
    maxAttempts: 1,
    // Not every server answers before the body comes, and the client would wait for that.
    expectContinueHeader: false,
    logger: silent,
    // Not every store knows the newer checksums; the hash of the body is signed with the request, and readers check.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: objectLimits.callMs,
      socketTimeout: silenceMs,
      httpsAgent: new Agent({
        keepAlive: true,
        maxSockets: connectionsMax,
        ...(ca === undefined ? {} : { ca }),
      }),
    },
  });
}

class S3Store implements ObjectStore {
  readonly #place: S3Place;
  readonly #sdk: Sdk;
  readonly #client: S3Client;

  constructor(place: S3Place, sdk: Sdk, client: S3Client) {
    this.#place = place;
    this.#sdk = sdk;
    this.#client = client;
  }

  async put(name: string, parts: readonly Buffer[]): Promise<void> {
    assertObjectName(name);
    assertSize(name, parts);
    const hash = (await sha256Of(parts)).toString('hex');
    await this.#call('put', name, objectLimits.transferMs, async (abortSignal) => {
      const command = new this.#sdk.PutObjectCommand({
        ...this.#keyOf(name),
        Body: Readable.from(slicesOf(parts), { objectMode: false }),
        ContentLength: parts.reduce((sum, part) => sum + part.length, 0),
        ContentType: 'application/octet-stream',
      });
      signBody(command, hash);
      await this.#client.send(command, { abortSignal });
    });
  }

  async get(name: string): Promise<Buffer | null> {
    assertObjectName(name);
    const command = new this.#sdk.GetObjectCommand(this.#keyOf(name));
    return await this.#call('get', name, objectLimits.transferMs, async (abortSignal) => {
      try {
        const { Body, ContentLength } = await this.#client.send(command, { abortSignal });
        return await readBody(name, Body, ContentLength ?? -1);
      } catch (error) {
        if (nameOf(error) === 'NoSuchKey') return null;
        throw error;
      }
    });
  }

  async list(folder: string): Promise<readonly string[]> {
    assertFolderName(folder);
    const { bucket: Bucket, prefix } = this.#place;
    const names: string[] = [];
    let next: string | undefined;
    do {
      const page = new this.#sdk.ListObjectsV2Command({
        Bucket,
        Prefix: prefix + folder,
        Delimiter: '/',
        ...(next === undefined ? {} : { ContinuationToken: next }),
      });
      const found = await this.#call('list', folder, objectLimits.callMs, (abortSignal) =>
        this.#client.send(page, { abortSignal }),
      );
      for (const { Key } of found.Contents ?? []) {
        if (Key !== undefined) names.push(Key.slice(prefix.length));
      }
      if (names.length > objectLimits.listedMax)
        throw new Fault('too_many_objects', 'skip', { facts: { folder, found: names.length } });
      next = found.IsTruncated === true ? found.NextContinuationToken : undefined;
    } while (next !== undefined);
    return names.sort();
  }

  async delete(name: string): Promise<void> {
    assertObjectName(name);
    const command = new this.#sdk.DeleteObjectCommand(this.#keyOf(name));
    await this.#call('delete', name, objectLimits.callMs, (abortSignal) =>
      this.#client.send(command, { abortSignal }),
    );
  }

  close(): void {
    this.#client.destroy();
  }

  #keyOf(name: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.#place;
    return { Bucket: bucket, Key: prefix + name };
  }

  /** Repeats what fails for a passing reason; `limitMs` bounds all attempts together. */
  async #call<T>(
    call: string,
    name: string,
    limitMs: number,
    work: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.timeout(limitMs);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work(signal);
      } catch (error) {
        const fault = faultOf(error, { call, name });
        const isLast = attempt === objectLimits.attemptsMax || signal.aborted;
        if (fault.code !== 'store_failed' || isLast) throw fault;
        await wait(retryMs * attempt);
      }
    }
  }
}

/** The store compares the body with this hash, which the signature of the request covers. */
function signBody(command: PutObjectCommand, hash: string): void {
  command.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      headers['x-amz-content-sha256'] = hash;
      return next(args);
    },
    { step: 'build', name: 'signBody' },
  );
}

/** All bytes of a response, which must be as many as it says. */
async function readBody(name: string, body: unknown, length: number): Promise<Buffer> {
  const stream = body as Readable;
  if (length < 0 || length > objectLimits.bytesMax) {
    stream.destroy();
    throw new Fault('object_too_large', 'skip', { facts: { name, bytes: length } });
  }
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (done + chunk.length > length) break;
    done += chunk.copy(bytes, done);
  }
  if (done === length) return bytes;
  throw new Error('the body ends early');
}

const refusals = new Set([
  'AccessDenied',
  'InvalidAccessKeyId',
  'NoSuchBucket',
  'SignatureDoesNotMatch',
]);

function faultOf(error: unknown, facts: { readonly call: string; readonly name: string }): Fault {
  if (error instanceof Fault) return error;
  const reason = nameOf(error);
  const status = Number(Reflect.get(Object(metadataOf(error)), 'httpStatusCode') ?? 0);
  const isRefused = refusals.has(reason) || status === 401 || status === 403;
  const code = isRefused ? 'store_refused' : 'store_failed';
  return new Fault(code, 'retry', { facts: { ...facts, reason, status }, cause: error });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

function metadataOf(error: unknown): unknown {
  return Reflect.get(Object(error), '$metadata');
}
