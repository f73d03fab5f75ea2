import { toolCall } from '@pm/deploy/installation/tool-call';
import type { ClickHouseRole } from '../roles/roles.ts';
import { type Judgement, no, unknown, yes } from './need.ts';

export function judgeVersion(found: {
  readonly version: string;
  /** Settings of tables that the server does not know. */
  readonly unknownSettings: readonly string[];
}): Judgement {
  const { version, unknownSettings } = found;
  if (unknownSettings.length === 0) return yes(`${version} knows all settings of the tables`);
  const line = `${version} does not know ${unknownSettings.join(', ')}`;
  return no(line, 'use a newer server: the tests run on 26.7');
}

/** Several answers are servers behind a balancer, of which each would have a part of the rows. */
export function judgeServers(servers: ReadonlySet<string>): Judgement {
  if (servers.size === 1) return yes('each connection reaches the same server');
  const line = `connections reach ${servers.size} servers, and the tables are not replicated`;
  return no(line, 'name one server in PM_CLICKHOUSE_URL');
}

export function judgeEngines(found: {
  /** Null where the database would be made. */
  readonly database: string | null;
  readonly isCloud: boolean;
}): Judgement {
  const { database, isCloud } = found;
  if (isCloud)
    return no('the server replaces table engines (cloud_mode)', 'use a server of your own');
  if (database === null) return yes('the database would be made, as Atomic');
  if (database === 'Atomic') return yes('the database is Atomic');
  return no(`the database is ${database}`, 'use an Atomic one: a rebuild exchanges tables');
}

export function judgeTables(names: readonly string[]): Judgement {
  if (names.length === 0) return yes('there are none of another version');
  return no(`${names.join(', ')} are of another version`, toolCall('rebuild', '--halted'));
}

export function judgeDeduplication(value: string | null): Judgement {
  if (value === null) return unknown('the server does not show insert_deduplicate');
  if (value === '1') return yes('inserts that are repeated count once');
  return no(`insert_deduplicate is ${value}`, 'set it to 1 in the profile of the projectors');
}

export function judgeOwnRights(lacking: readonly string[]): Judgement {
  if (lacking.length === 0) return yes('this account may make databases and tables');
  const todo = 'run set-up and rebuild as an administrator';
  return no(`this account lacks ${lacking.join(', ')}`, todo);
}

/** A grant as `system.grants` has it; null stands for all. */
export interface Grant {
  readonly privilege: string;
  readonly database: string | null;
  readonly table: string | null;
}

/** A role by its grants; null stands for a role that the server does not have. */
export function judgeRole(found: {
  readonly role: ClickHouseRole;
  readonly database: string;
  readonly grants: readonly Grant[] | null;
}): Judgement {
  const { role, database, grants } = found;
  if (grants === null)
    return unknown(`there is no role ${role.name}; its user needs the same rights`);
  const owed = role.rights.flatMap(({ privileges, database: which, tables }) =>
    privileges.flatMap((privilege) =>
      tables.map((table) => ({
        privilege,
        table,
        database: which === 'system' ? 'system' : database,
      })),
    ),
  );
  const lacking = owed.filter((one) => !grants.some((grant) => covers(grant, one)));
  const [first] = lacking;
  if (first === undefined) return yes(`${role.name} has all its grants`);
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`;
  const line = `${role.name} lacks ${first.privilege} on ${first.database}.${first.table}${more}`;
  return no(line, 'apply deploy/clickhouse/roles.sql again, after set-up has made the tables');
}

function covers(grant: Grant, owed: Grant): boolean {
  return (
    [owed.privilege, 'ALL'].includes(grant.privilege) &&
    [owed.database, null].includes(grant.database) &&
    [owed.table, null].includes(grant.table)
  );
}
