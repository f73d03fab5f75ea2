import type { ClickHouseRole, ProfileSetting, Right } from './roles.ts';

/** `GRANT` of all rights of a role at once; rights that are not named are revoked. */
export function grantSql(role: ClickHouseRole, database: string): string {
  const granted = role.rights.flatMap((right) => rightTexts(right, database));
  return `GRANT\n  ${granted.join(',\n  ')}\nTO ${role.name} WITH REPLACE OPTION`;
}

/** Privileges and their tables. */
export function rightTexts(
  { privileges, database, tables }: Right,
  exchange: string,
): readonly string[] {
  const name = database === 'system' ? 'system' : exchange;
  return tables.map((table) => `${privileges.join(', ')} ON ${name}.${table}`);
}

function settingText([name, { value, min, max }]: readonly [string, ProfileSetting]): string {
  const shown = typeof value === 'number' ? String(value) : `'${value}'`;
  const bounds = min === undefined || max === undefined ? 'CONST' : `MIN ${min} MAX ${max}`;
  return `${name} = ${shown} ${bounds}`;
}

/** The settings profile of a role, `null` when it has none. */
export function profileSql({ name, settings }: ClickHouseRole): string | null {
  const texts = Object.entries(settings).map(settingText);
  if (texts.length === 0) return null;
  return `CREATE SETTINGS PROFILE OR REPLACE ${name} SETTINGS\n  ${texts.join(',\n  ')}\nTO ${name}`;
}

/** The quota of a role, counted for each user apart; `null` when it has none. */
export function quotaSql({ name, quota }: ClickHouseRole): string | null {
  if (quota === null) return null;
  const limits = Object.entries(quota).map(([what, most]) => `${what} = ${most}`);
  return `CREATE QUOTA OR REPLACE ${name} KEYED BY user_name FOR INTERVAL 1 hour\n  MAX ${limits.join(', ')}\nTO ${name}`;
}

/** All statements that create the roles; they can be repeated. */
export function roleStatements(roles: readonly ClickHouseRole[], database: string): string[] {
  return roles.flatMap((role) =>
    [
      `CREATE ROLE IF NOT EXISTS ${role.name}`,
      grantSql(role, database),
      profileSql(role),
      quotaSql(role),
    ].filter((statement) => statement !== null),
  );
}

/** The file deploy/clickhouse/roles.sql. */
export function rolesFile(roles: readonly ClickHouseRole[], database: string): string {
  const head = `-- Roles of the tables, made by \`npm run docs\` from operate/src/roles. How to apply: docs/operating/clickhouse.md.
-- The database is called ${database} here; it can be applied again, and takes away what a role should not have.`;
  const parts = roles.map((role) => {
    const statements = roleStatements([role], database).map((statement) => `${statement};`);
    return [`-- ${role.comment}`, ...statements].join('\n');
  });
  return `${[head, ...parts].join('\n\n')}\n`;
}
