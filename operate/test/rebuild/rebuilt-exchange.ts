import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { logPlaceOf } from '@pm/deploy/installation/open';
import { builtEntry } from '@pm/deploy/local/paths';
import { loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { firstChain, sealExecution } from '@pm/domain/signoff/records';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import { setUpNamed, variablesOf } from '../../../acceptance/test/services-under-test.ts';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ofPartition } from '../../../projectors/test/log.ts';
import { TradingLog } from '../../../projectors/test/trading-log.ts';

const partitions = 2;
/** Between two records of each partition while the log grows, milliseconds. */
const growsEveryMs = 200;
const root = join(__dirname, '../../..');

/** A generated log on real engines, its tables, and a projector that fills them. */
export class RebuiltExchange {
  readonly name: string;
  readonly clickhouse: ClickHouse;
  readonly #client: LogClient;
  readonly #folder: string;
  readonly #logs = Array.from({ length: partitions }, (_, one) => new TradingLog(41 + one));
  readonly #chains: Buffer[] = Array.from({ length: partitions }, () => firstChain);
  /** Fills before each record, by partition. */
  readonly #fills: number[][] = Array.from({ length: partitions }, () => [0]);
  #producer: LogProducer | null = null;
  #codec: RecordCodec<Execution> | null = null;
  #projector: ChildProcess | null = null;
  /** Warnings of the projector, one JSON object a line. */
  #warnings = '';
  #stopGrowing: () => Promise<void> = async () => {};

  constructor(name: string) {
    this.name = `${name}_${process.pid}`;
    this.#folder = mkdtempSync(join(tmpdir(), name));
    this.#client = openLogClient({
      brokers: [engineUrl('KAFKA')],
      clientId: this.name,
      log: silentLog,
    });
    this.clickhouse = openClickHouse({
      url: engineUrl('CLICKHOUSE'),
      database: this.name,
      user: 'default',
      password: '',
      log: silentLog,
      requestTimeoutMs: 120_000,
    });
  }

  async open(): Promise<void> {
    const keys = loadOrMakeKeys(join(this.#folder, 'keys.json'));
    await setUpNamed(this.name, { keys, partitions });
    const place = logPlaceOf(this.#client, { topicPrefix: `${this.name}-`, rootKey: keys.rootKey });
    this.#codec = await place.schemas.codecFor(topics.executions);
    this.#producer = await this.#client.producer();
  }

  async close(): Promise<void> {
    await this.#stopGrowing();
    await this.stopProjector();
    try {
      // Its own last: every statement names it.
      for (const suffix of ['_rebuild', '_still', ''])
        await this.clickhouse.command(`DROP DATABASE IF EXISTS ${this.name}${suffix}`);
    } finally {
      await this.clickhouse.close();
      await this.#client.close();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  /** Appends records to the log of every partition. */
  async grow(records: number): Promise<void> {
    const producer = this.#producer;
    if (producer === null) throw new Error('not open');
    const topic = `${this.name}-executions`;
    for (const [partition, log] of this.#logs.entries()) {
      const values = log.records(records).map((execution) => this.#seal(partition, execution));
      await producer.send(values.map((value) => ({ topic, partition, key: null, value })));
    }
  }

  /** Appends records that the tables cannot take, until the projector has tried to write them in each partition. */
  async growInVain(records: number): Promise<void> {
    this.#warnings = '';
    await this.grow(records);
    const hasTried = (partition: number) =>
      this.#warnings.includes(`"partition":${partition},"code":"tables_differ"`);
    for (let tries = 0; tries < 3_000; tries += 1) {
      if (this.#logs.every((_, partition) => hasTried(partition))) return;
      await wait(20);
    }
    throw new Error('the projector does not try to write');
  }

  /** The next record of a partition. */
  #seal(partition: number, execution: Execution): Buffer {
    if (this.#codec === null) throw new Error('not open');
    const events = execution.events.map((event) => ofPartition(event, partition));
    const chain = this.#chains[partition] ?? firstChain;
    const sealed = sealExecution(this.#codec, chain, { ...execution, events });
    this.#chains[partition] = sealed.chain;
    const counts = this.#fills[partition] ?? [];
    const fills = events.filter(({ kind }) => kind === 'Fill').length;
    counts.push((counts.at(-1) ?? 0) + fills);
    return sealed.value;
  }

  /** Appends records until the returned function is called. */
  keepGrowing(): () => Promise<void> {
    let isWanted = true;
    const growing = (async () => {
      while (isWanted) {
        await this.grow(1);
        await wait(growsEveryMs);
      }
    })();
    this.#stopGrowing = async () => {
      isWanted = false;
      await growing;
    };
    return this.#stopGrowing;
  }

  startProjector(): void {
    const given = {
      PM_VIEWS: 'tables',
      PM_BATCH_MS: '100',
      PM_BATCH_PAUSE_MAX_MS: '1000',
      PM_OPS_PORT: '0',
      PM_PARENT_PIPE: '1',
      PM_LOG_LEVEL: 'warn',
      PM_LEDGER_SEED: loadOrMakeKeys(join(this.#folder, 'keys.json')).ledgerSeed,
    };
    const child = spawn(process.execPath, [builtEntry('programs/projectors.mjs')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], ...variablesOf(this.name), ...given },
    });
    child.stdout.on('data', (text: Buffer) => {
      this.#warnings += text.toString();
    });
    this.#projector = child;
  }

  async stopProjector(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#projector;
    this.#projector = null;
    if (child === null || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Starts `npm run rebuild` and collects its output. */
  rebuild(args: readonly string[] = []): RebuildProcess {
    return new RebuildProcess(args, { PATH: process.env['PATH'], ...variablesOf(this.name) });
  }

  /** Waits until the tables are complete up to the present end of the log. */
  async settle(): Promise<void> {
    for (let tries = 0; tries < 600; tries += 1) {
      const { through } = await this.progress();
      if (through.every((offset, one) => offset >= (this.#fills[one]?.length ?? 0) - 1)) return;
      await wait(100);
    }
    throw new Error('the tables do not come to the end of the log');
  }

  /** The databases beside the served one. */
  async copies(): Promise<readonly string[]> {
    const rows = await this.clickhouse.selectRows<{ name: string }>(
      'SELECT name FROM system.databases WHERE startsWith(name, {prefix:String}) ORDER BY name',
      { prefix: `${this.name}_` },
    );
    return rows.map(({ name }) => name);
  }

  async isHeld(): Promise<boolean> {
    const rows = await this.clickhouse.selectRows(
      'SELECT name FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
      { name: rebuildHold.name },
    );
    return rows.length > 0;
  }

  async progress(): Promise<{ readonly through: readonly number[] }> {
    const rows = await this.clickhouse.selectRows<{ partition: number; to: string }>(
      'SELECT partition, toString(through_offset) AS to FROM completeness FINAL',
    );
    const found = new Map(rows.map(({ partition, to }) => [partition, Number(to)]));
    return { through: Array.from({ length: partitions }, (_, one) => found.get(one) ?? 0) };
  }

  /** Rows that `fills` lacks or has too many of in its complete part; every record is one input offset here. */
  async wrongFills(): Promise<number> {
    const { through } = await this.progress();
    const owed = through.reduce((sum, to, one) => sum + (this.#fills[one]?.[to] ?? 0), 0);
    const [row] = await this.clickhouse.selectRows<{ found: string }>(
      'SELECT count() AS found FROM fills FINAL WHERE in_offset < {bounds:Array(UInt64)}[partition + 1]',
      { bounds: through },
    );
    return Number(row?.found) - owed;
  }
}

/** One run of the command. */
export class RebuildProcess {
  readonly ended: Promise<number | null>;
  output = '';
  readonly #child: ChildProcess;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    const child = spawn(
      process.execPath,
      [join(root, 'operate/dist/commands/rebuild.js'), ...args],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env,
      },
    );
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        this.output += text.toString();
      });
    this.#child = child;
    // Its output has been read when it is closed.
    this.ended = once(child, 'close').then(([code]) => code as number | null);
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#child.kill(signal);
  }

  /** Resolves when it has printed this, or has ended. */
  async said(text: string): Promise<void> {
    for (let isOver = false; !isOver && !this.output.includes(text); )
      isOver = await Promise.race([this.ended.then(() => true), wait(10, false)]);
  }
}
