import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { COMPATIBILITY, SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { type AvroSchema, toAvroJson } from '@pm/schemas/avro/schema';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import type { RegistryAddress } from './address.ts';
import { setUnsetLevel } from './compatibility-level.io.ts';
import { registeredId } from './registered-schema.io.ts';
import { registryTimeoutMs, statusOf } from './request.io.ts';

/** Every retained version must read every other: a log is replayed from its start (traps.md). */
export const compatibility = 'FULL_TRANSITIVE' as COMPATIBILITY.FULL_TRANSITIVE;

/** Tries of one registration and the waits between them, milliseconds: about 6 s in all. */
const defaultMaxTries = 6;
const firstWaitMs = 200;
const maxWaitMs = 5_000;

/** Registers schemas; one client for all, used at start only. */
export interface Registrar {
  /**
   * The id of the schema under the subject. Throws a `Fault`: `schema_incompatible` (stop) naming the subject,
   * `registry_refused` (stop), or `registry_unavailable` (retry) after bounded tries.
   */
  register(subject: string, schema: AvroSchema): Promise<number>;
}

export function openRegistrar(
  address: RegistryAddress,
  log: Log,
  maxTries = defaultMaxTries,
): Registrar {
  let client: Promise<SchemaRegistry> | null = null;
  return {
    async register(subject, schema) {
      const body = { type: 'AVRO', schema: JSON.stringify(toAvroJson(schema)) };
      const wanted = { subject, level: compatibility, schema: body.schema };
      for (let attempt = 1; ; attempt += 1) {
        try {
          const known = await registeredId(address, wanted);
          if (known !== null) return known;
          await setUnsetLevel(address, subject, compatibility);
          client ??= openClient(address);
          const confluent = body as Parameters<SchemaRegistry['register']>[0];
          const { id } = await (await client).register(confluent, { subject, compatibility });
          return id;
        } catch (error) {
          const fault = faultOf(subject, error);
          if (fault.reaction !== 'retry' || attempt >= maxTries) throw fault;
          log.warn({ subject, attempt, reason: fault.facts['reason'] }, 'registry does not answer');
          await pause(Math.min(firstWaitMs * 2 ** (attempt - 1), maxWaitMs));
        }
      }
    },
  };
}

/** Loaded for a schema that is not registered yet: its modules are a fifth of those of a service. */
async function openClient({ url, auth, ca }: RegistryAddress): Promise<SchemaRegistry> {
  const { SchemaRegistry } = await import('@kafkajs/confluent-schema-registry');
  // Our own retries replace the client's, which cover GET only.
  const retry = { retries: 0, maxRetryTimeInSecs: 1, initialRetryTimeInSecs: 0.1 };
  const timeout = () => ({
    prepareRequest: async (next: () => Promise<Enhanceable>) =>
      (await next()).enhance({ timeout: registryTimeoutMs }),
  });
  const middlewares = [timeout] as unknown as NonNullable<ClientOptions['middlewares']>;
  const options: ClientOptions = { host: url, retry, middlewares };
  if (auth !== null) options.auth = { ...auth };
  if (ca !== null) options.agent = new Agent({ ca });
  return new SchemaRegistry(options);
}

type ClientOptions = ConstructorParameters<typeof SchemaRegistry>[0];

/** The part of the client's HTTP request that is used; its package is not ours to import. */
interface Enhanceable {
  enhance(extras: { timeout: number }): unknown;
}

/**
 * Statuses that a retry does not change. This client reports a request without a response as 400, so 400 is retried.
 */
const refusedStatuses = new Set([401, 403, 404, 405, 409, 422]);

function faultOf(subject: string, error: unknown): Fault {
  const status = statusOf(error);
  const reason = error instanceof Error ? error.message.slice(0, maxReasonChars) : 'unknown';
  const facts = { subject, reason };
  // Two processes set the compatibility of a new subject at once: the later one finds it set, and a further try agrees.
  if (status === 409 && reason.includes('already exists')) {
    return new Fault('registry_unavailable', 'retry', { facts, cause: error });
  }
  if (status === 409 || nameOf(error) === 'ConfluentSchemaRegistryCompatibilityError') {
    return new Fault('schema_incompatible', 'stop', { facts, cause: error });
  }
  if (status !== null && refusedStatuses.has(status)) {
    return new Fault('registry_refused', 'stop', { facts: { ...facts, status }, cause: error });
  }
  return new Fault('registry_unavailable', 'retry', { facts, cause: error });
}

const maxReasonChars = 300;

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
