import { createHash } from 'node:crypto';
import { canonicalForm } from '@pm/schemas/avro/canonical-form';

/** SHA-256 of the canonical form of a schema, 32 bytes. Throws `AvroError` for JSON that is no schema. */
export function fingerprintOf(json: unknown): Buffer {
  return createHash('sha256').update(canonicalForm(json)).digest();
}
