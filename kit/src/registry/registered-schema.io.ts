import type { RegistryAddress } from './address.ts';
import { levelAt } from './compatibility-level.io.ts';
import { askRegistry } from './request.io.ts';

/** Schema to look up under its subject, and the compatibility level that the subject should show. */
interface WantedSchema {
  readonly subject: string;
  readonly level: string;
  /** Avro, as JSON. */
  readonly schema: string;
}

/**
 * The id of a schema that is registered under its subject already, as at every start but the first; null where it is
 * not, where the subject shows another level, and where this account may not look. Rejects as `askRegistry` does.
 */
export async function registeredId(
  address: RegistryAddress,
  { subject, level, schema }: WantedSchema,
): Promise<number | null> {
  const name = encodeURIComponent(subject);
  const [shown, id] = await Promise.all([
    levelAt(address, `/config/${name}`),
    idUnder(address, `/subjects/${name}`, schema),
  ]);
  return shown === level ? id : null;
}

async function idUnder(
  address: RegistryAddress,
  path: string,
  schema: string,
): Promise<number | null> {
  const body = JSON.stringify({ schemaType: 'AVRO', schema });
  try {
    const found = await askRegistry(address, path, { method: 'POST', body });
    const { id } = JSON.parse(found.text) as { readonly id?: unknown };
    return typeof id === 'number' ? id : null;
  } catch (error) {
    if (notFoundStatuses.has(Number(Reflect.get(Object(error), 'status')))) return null;
    throw error;
  }
}

/** Not there, and what registries answer to a look that they do not allow or know. */
const notFoundStatuses: ReadonlySet<number> = new Set([403, 404, 405, 422]);
