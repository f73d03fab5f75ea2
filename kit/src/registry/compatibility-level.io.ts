import type { RegistryAddress } from './address.ts';
import { askRegistry } from './request.io.ts';

/**
 * Gives a subject its compatibility level before its first schema, where it has none of its own. The client sets the
 * level after the schema: a process that ends between the two, or another that starts between them, leaves a subject
 * that shows the registry's general level, and every later start refuses it. A level that was set on purpose stays, and
 * the client refuses it. Rejects as `askRegistry` does.
 */
export async function setUnsetLevel(
  address: RegistryAddress,
  subject: string,
  level: string,
): Promise<void> {
  const path = pathOf(subject);
  if ((await levelAt(address, path)) === level) return;
  if ((await foreignLevel(address, subject, level)) !== null) return;
  await askRegistry(address, path, {
    method: 'PUT',
    body: JSON.stringify({ compatibility: level }),
  });
}

/** The level that a subject was given on purpose and that is not this one; else null. Rejects as `askRegistry` does. */
export async function foreignLevel(
  address: RegistryAddress,
  subject: string,
  level: string,
): Promise<string | null> {
  const shown = await levelAt(address, pathOf(subject));
  if (shown === null || shown === level) return null;
  return shown === (await levelAt(address, '/config')) ? null : shown;
}

const pathOf = (subject: string) => `/config/${encodeURIComponent(subject)}`;

/** The level that the registry shows there; null where there is none. */
export async function levelAt(address: RegistryAddress, path: string): Promise<string | null> {
  const response = await askRegistry(address, path);
  if (response.status === 404) return null;
  const body = JSON.parse(response.text) as { readonly compatibilityLevel?: unknown };
  return typeof body.compatibilityLevel === 'string' ? body.compatibilityLevel : null;
}
