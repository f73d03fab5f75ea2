import type { DeclaredAccess } from './rights.ts';
import { serviceAccess } from './service-access.ts';
import { toolAccess } from './tool-access.ts';

/**
 * Read and write access of every service and tool at the engines; the least that it works with. Statements for the
 * engines are made of it, and a test compares it with the sources. Creating and replacing tables (set-up, `npm run
 * rebuild`) takes an administrator of ClickHouse.
 */
export const declaredAccess: readonly DeclaredAccess[] = [...serviceAccess, ...toolAccess];

/** Its account at Kafka and Redis. */
export function accountOf({ name }: Pick<DeclaredAccess, 'name'>): string {
  return `pm-${name}`;
}
