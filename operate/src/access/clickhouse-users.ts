import { accountOf } from './declared.ts';
import { passwordHashOf } from './password-hash.ts';
import type { DeclaredAccess } from './rights.ts';

/**
 * Statements that create the users of ClickHouse and give each its one role; the roles are those of
 * deploy/clickhouse/roles.sql. They can be repeated.
 */
export function clickhouseUserStatements(
  declared: readonly DeclaredAccess[],
  database: string,
): readonly string[] {
  return declared.flatMap((access) => {
    const { clickhouseRole: role } = access;
    if (role === null) return [];
    const user = accountOf(access).replaceAll('-', '_');
    const identified = `IDENTIFIED WITH sha256_hash BY '${passwordHashOf(access)}'`;
    return [
      `CREATE USER IF NOT EXISTS ${user} ${identified} DEFAULT DATABASE ${database}`,
      `GRANT ${role} TO ${user} WITH REPLACE OPTION`,
    ];
  });
}
