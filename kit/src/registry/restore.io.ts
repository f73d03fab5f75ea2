import { AvroError } from '@pm/schemas/avro/bytes';
import type { ListedSchema } from '@pm/schemas/log/service-keys';
import { Fault } from '../fault/index.ts';
import type { RegistryAddress } from './address.ts';
import { importArchive } from './apicurio-archive.ts';
import { setUnsetLevel } from './compatibility-level.io.ts';
import { fingerprintOf } from './fingerprint.ts';
import { askRegistry, statusOf } from './request.io.ts';
import { compatibility } from './schema-ids.io.ts';

/** A schema that the log lists, and its place in the registry. */
export interface ListedSubject extends ListedSchema {
  readonly subject: string;
}

/** Path of Confluent's API in Apicurio, which takes no ids there but has an import of its own. */
const apicurioPath = /\/apis\/ccompat\/v\d+$/;

/** The API of Apicurio itself, behind the address of Confluent's; null for any other registry. */
export function apicurioBase(address: RegistryAddress): RegistryAddress | null {
  if (!apicurioPath.test(address.url)) return null;
  return { ...address, url: address.url.replace(apicurioPath, '/apis/registry/v3') };
}

/** See `Registry.restore`. */
export async function restoreSchemas(
  address: RegistryAddress,
  listed: readonly ListedSubject[],
): Promise<number> {
  const missing = await missingIn(address, listed);
  if (missing.length === 0) return 0;
  // Before its first schema, or a run that is broken off leaves a subject without one.
  for (const { subject } of missing)
    await asked(() => setUnsetLevel(address, subject, compatibility));
  const own = apicurioBase(address);
  await asked(() =>
    own === null ? registerEach(address, missing) : importAll(address, own, missing),
  );
  const [first] = await missingIn(address, missing);
  if (first === undefined) return missing.length;
  throw new Fault('registry_not_restored', 'stop', { facts: factsOf(first) });
}

/** Rejects with `registry_foreign` for an id that has another schema. */
async function missingIn(
  address: RegistryAddress,
  listed: readonly ListedSubject[],
): Promise<readonly ListedSubject[]> {
  const looks = listed.map(async (one) => {
    const { status, text } = await asked(() =>
      askRegistry(address, `/schemas/ids/${one.schemaId}`),
    );
    if (status === 404) return [one];
    if (!isSame(text, one.schema))
      throw new Fault('registry_foreign', 'stop', { facts: factsOf(one) });
    return [];
  });
  return (await Promise.all(looks)).flat();
}

/** Confluent's API takes ids in its mode IMPORT, which is set by subject. */
async function registerEach(
  address: RegistryAddress,
  missing: readonly ListedSubject[],
): Promise<void> {
  for (const { subject, schemaId: id, schema } of missing) {
    const name = encodeURIComponent(subject);
    const mode = async (value: string) => {
      const body = JSON.stringify({ mode: value });
      await askRegistry(address, `/mode/${name}?force=true`, { method: 'PUT', body });
    };
    await mode('IMPORT');
    const body = JSON.stringify({ schemaType: 'AVRO', schema, id });
    const path = `/subjects/${name}/versions`;
    await askRegistry(address, path, { method: 'POST', body }).finally(() => mode('READWRITE'));
  }
}

async function importAll(
  address: RegistryAddress,
  own: RegistryAddress,
  missing: readonly ListedSubject[],
): Promise<void> {
  const versions = new Map<string, readonly number[]>();
  for (const { subject } of missing)
    if (!versions.has(subject)) versions.set(subject, await versionsOf(address, subject));
  await askRegistry(own, '/admin/import?requireEmptyRegistry=false', {
    method: 'POST',
    body: importArchive(missing, versions),
    type: 'application/zip',
    more: { 'x-registry-preserve-globalid': 'false' },
  });
}

async function versionsOf(address: RegistryAddress, subject: string): Promise<readonly number[]> {
  const found = await askRegistry(address, `/subjects/${encodeURIComponent(subject)}/versions`);
  return found.status === 404 ? [] : (JSON.parse(found.text) as readonly number[]);
}

/** Whether an answer of the registry has this schema, whatever its documentation says. */
function isSame(answer: string, listed: string): boolean {
  try {
    const { schema } = JSON.parse(answer) as { readonly schema?: unknown };
    if (typeof schema !== 'string') return false;
    return fingerprintOf(JSON.parse(schema)).equals(fingerprintOf(JSON.parse(listed)));
  } catch (error) {
    if (error instanceof AvroError || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The faults of requests: an answer that says no, and none. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    const status = statusOf(cause);
    const reason = cause instanceof Error ? cause.message : 'unknown';
    if (status === null || status >= 500)
      throw new Fault('registry_unavailable', 'retry', { facts: { reason }, cause });
    throw new Fault('registry_refused', 'stop', { facts: { reason, status }, cause });
  }
}

function factsOf({ subject, schemaId }: ListedSubject): Record<string, string | number> {
  return { subject, schemaId };
}
