import { join, resolve } from 'node:path';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { openInstallation } from '@pm/deploy/installation/open';
import { toolUsage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { piecesOf } from '../audit/read-log.ts';
import { firstMoment } from '../export/completeness.ts';
import { parseDay } from '../export/day.ts';
import { exportDay } from '../export/export-day.ts';
import { ExportError } from '../export/export-error.ts';
import { summaryLines, tableLine } from '../export/output.ts';
import { planOf } from '../export/plan.ts';
import { verifyDay } from '../export/verify-day.ts';

/**
 * `npm run export`: writes a day of the tables as Parquet, or verifies a written one. Exit code 0 when all is well,
 * else 1.
 */
const given = new Command(toolUsage('export'))
  .description(
    'Writes a day (UTC) of the tables as Parquet files with a manifest: of the running stack of a data folder, or of the installation that PM_KAFKA_BROKERS, PM_CLICKHOUSE_URL and the others name. With --verify it checks such a folder instead.',
  )
  .option('--day <day>', 'the day, as YYYY-MM-DD; it must be over and complete')
  .option('--partial', 'the complete part of a day, into a folder of that name', false)
  .option('--to <folder>', 'parent of the folder of the day', 'exports')
  .option(
    '--tables <names>',
    'only these tables, comma-separated; copies are written only when named',
  )
  .option('--again', 'writes a day again that is already whole', false)
  .option(
    '--data <folder>',
    'data folder of the running stack',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--verify <folder>', 'verifies a written day: files, rows, hashes; needs no server')
  .parse()
  .opts<{
    day?: string;
    partial: boolean;
    to: string;
    tables?: string;
    again: boolean;
    data: string;
    verify?: string;
  }>();

async function write(dayText: string): Promise<void> {
  const isPartial = given.partial;
  const day = parseDay(dayText, Date.now(), { isPartial });
  const plan = planOf(given.tables?.split(',').map((name) => name.trim()) ?? null);
  const folder = resolve(given.to, isPartial ? `${day.name}.partial` : day.name);
  const installation = openInstallation(await findInstallation(process.env, given.data), 'export');
  try {
    const { addresses, client, clickhouse } = installation;
    const pieces = await piecesOf({ client, topicPrefix: addresses.topicPrefix });
    const manifest = await exportDay({
      clickhouse,
      database: addresses.clickhouseDatabase,
      day,
      isPartial,
      plan,
      folder,
      partitions: pieces.map(({ partition }) => partition),
      // A part is written again each time: the day has gone on.
      again: given.again || isPartial,
      onTable: (written) => console.log(tableLine(written)),
    });
    for (const line of summaryLines(manifest, { folder, firstMs: await firstMoment(clickhouse) }))
      console.log(line);
  } finally {
    await installation.close();
  }
}

async function verify(folder: string): Promise<boolean> {
  const verified = await verifyDay(resolve(folder), ({ table, wrong }) => {
    const verdict = wrong.length === 0 ? 'ok    ' : 'BROKEN';
    console.log(`${verdict}  ${table.file.padEnd(24)} ${wrong.join(', ')}`.trimEnd());
  });
  const isRight = verified.every(({ wrong }) => wrong.length === 0);
  console.log(isRight ? 'every file matches the manifest' : 'files and manifest differ');
  return isRight;
}

let isRight = false;
try {
  if (given.verify !== undefined) isRight = await verify(given.verify);
  else if (given.day === undefined)
    throw new ExportError('BAD_ARGUMENT', 'name a --day, or a folder to --verify');
  else {
    await write(given.day);
    isRight = true;
  }
} catch (error) {
  console.error(messageOf(error));
}
process.exit(isRight ? 0 : 1);
