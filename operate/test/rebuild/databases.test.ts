import type { Installation } from '@pm/deploy/installation/open';
import { Fault } from '@pm/kit/fault';
import { tables } from '@pm/schemas/tables/tables';
import { exchangeTables } from '../../src/rebuild/databases.ts';
import type { Rebuild } from '../../src/rebuild/progress.ts';

/** Two databases of tables with identities, as far as an exchange sees them. */
class FakeServer {
  readonly ids = new Map<string, string>();
  exchanges = 0;
  /** Called before an exchange is carried out. */
  before: () => void = () => {};
  /** Called after a statement, before its result. */
  afterStatement: () => void = () => {};

  constructor() {
    for (const database of ['pm', 'pm_rebuild'])
      for (const { name } of Object.values(tables))
        this.ids.set(`${database}.${name}`, `${database} ${name}`);
  }

  async selectRows<T>(_sql: string, params?: object): Promise<readonly T[]> {
    const { database, name } = params as { database: string; name: string };
    return [{ id: this.ids.get(`${database}.${name}`) ?? '' }] as unknown as readonly T[];
  }

  async command(sql: string): Promise<void> {
    const [, one = '', other = ''] = /^EXCHANGE TABLES (\S+) AND (\S+)$/.exec(sql) ?? [];
    if (one === '') return;
    this.exchanges += 1;
    this.before();
    this.exchange(one.replaceAll('`', ''), other.replaceAll('`', ''));
    this.afterStatement();
  }

  exchange(one: string, other: string): void {
    const [first = '', second = ''] = [this.ids.get(one), this.ids.get(other)];
    this.ids.set(one, second);
    this.ids.set(other, first);
  }

  rebuild(): Rebuild {
    return {
      installation: { clickhouse: this } as unknown as Installation,
      tables: this,
      served: 'pm',
      rebuilt: 'pm_rebuild',
      snapshot: 'pm_still',
      isAlone: () => true,
      assertMayGoOn: () => {},
    };
  }

  served(): readonly string[] {
    return Object.values(tables).map(({ name }) => this.ids.get(`pm.${name}`) ?? '');
  }
}

const rebuilt = Object.values(tables).map(({ name }) => `pm_rebuild ${name}`);

describe('an exchange of tables', () => {
  test('exchanges each once', async () => {
    const server = new FakeServer();
    await exchangeTables(server.rebuild());
    expect(server.served()).toEqual(rebuilt);
    expect(server.exchanges).toBe(rebuilt.length);
  });

  test('is not undone by repeating a statement whose response was lost', async () => {
    const server = new FakeServer();
    let lost = 1;
    server.afterStatement = () => {
      if (lost-- > 0) throw new Fault('clickhouse_unavailable', 'retry');
    };
    await exchangeTables(server.rebuild());
    expect(server.served()).toEqual(rebuilt);
  });

  test('stops when another run has put its own tables where the rebuilt ones were', async () => {
    const server = new FakeServer();
    server.before = () => {
      server.before = () => {};
      for (const { name } of Object.values(tables))
        server.ids.set(`pm_rebuild.${name}`, `another ${name}`);
    };
    await expect(exchangeTables(server.rebuild())).rejects.toThrow('another process works on it');
    expect(server.exchanges).toBe(1);
  });

  test('stops between two tables when the run may not go on', async () => {
    const server = new FakeServer();
    const stopped = {
      ...server.rebuild(),
      assertMayGoOn() {
        if (server.exchanges === 3) throw new Error('broken off');
      },
    };
    await expect(exchangeTables(stopped)).rejects.toThrow('broken off');
    expect(server.exchanges).toBe(3);
  });
});
