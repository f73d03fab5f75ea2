/** @jest-environment node */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeRole } from '../../src/preflight/clickhouse-judges.ts';
import { readGrants } from '../../src/preflight/clickhouse-needs.ts';
import { type ClickHouseRole, clickhouseRoles } from '../../src/roles/roles.ts';
import { database, EngineAs } from '../roles/engine-as.ts';

const mayLook = ['GRANT SHOW USERS, SHOW ROLES ON *.*', 'GRANT SELECT ON system.*'];

/** The verdict on `asked` at an engine that has `role` alone. */
async function verdictOf(role: ClickHouseRole, asked: ClickHouseRole): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pm-preflight-roles-'));
  const empty = await EngineAs.open(folder, null);
  empty.close();
  const engine = await EngineAs.open(folder, role, mayLook);
  try {
    const grants = await readGrants((sql, params) => engine.selectRows(sql, params), asked.name);
    return judgeRole({ role: asked, database, grants }).verdict;
  } finally {
    engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test.each(clickhouseRoles.map((role) => [role.name, role] as const))(
  'the grants of %s are found where the role has them',
  async (_, role) => {
    expect(await verdictOf(role, role)).toBe('yes');
  },
);

test('a role that lacks a grant does not fit, and of one that is missing nothing is known', async () => {
  const [writer, reader] = clickhouseRoles;
  if (writer === undefined || reader === undefined) throw new Error('there are two roles or more');
  const fewer = { ...writer, rights: writer.rights.slice(1) };
  expect(await verdictOf(fewer, writer)).toBe('no');
  expect(await verdictOf(writer, reader)).toBe('unknown');
});
