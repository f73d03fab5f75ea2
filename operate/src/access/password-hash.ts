import { accountOf } from './declared.ts';
import type { DeclaredAccess } from './rights.ts';

/**
 * Stands for the SHA-256 of the password of an account, 64 hex digits. Neither Redis nor ClickHouse takes it for a
 * hash, so an account whose password was not filled in opens nothing.
 */
export function passwordHashOf(access: Pick<DeclaredAccess, 'name'>): string {
  return `SHA256_OF_${accountOf(access)}`;
}
