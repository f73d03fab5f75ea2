import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { repositoryRoot } from '../local/paths.ts';
import { LOOPBACK, portsFromEnvironment } from '../local/ports.ts';
import { messageOf, StackError } from '../local/stack-error.ts';
import { loadOrMakeKeys } from '../setup/keys.ts';
import { eventsOfFile, importCatalog, progressLine } from '../stack/catalog-file.ts';
import { openOperator } from '../stack/operator.ts';

/** `npm run catalog -- import FILE`: lists the events of a file, with progress; the same again changes nothing. */
interface Given {
  readonly data: string;
  readonly url?: string;
  readonly onlyNew?: boolean;
}

const tokenVariable = 'PM_OPERATOR_TOKEN';
const program = new Command('npm run catalog --');
program
  .command('import <file>')
  .description(
    'events as {"events": [...]} or one per line (.ndjson); it can be broken off and repeated',
  )
  .option(
    '--data <folder>',
    'data folder of the local stack, for its token',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--only-new', 'what is listed already stays as it is, whatever the file says')
  .option('--url <address>', `the operator's listener elsewhere; its token is in ${tokenVariable}`)
  .action(importFile);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof StackError ? error.message : messageOf(error));
  process.exit(1);
}

async function importFile(file: string, given: Given): Promise<void> {
  const startedAtMs = Date.now();
  const seconds = () => (Date.now() - startedAtMs) / 1000;
  const operator = operatorOf(given);
  const importEvents = given.onlyNew ? operator.importNewEvents : operator.importEvents;
  const totals = await importCatalog({ importEvents }, eventsOfFile(file), (sofar) =>
    console.error(progressLine(sofar, seconds())),
  );
  console.log(progressLine(totals, seconds()));
}

function operatorOf({ data, url }: Given) {
  if (url === undefined) {
    const file = join(data, 'keys.json');
    if (!existsSync(file)) {
      throw new StackError(
        'BAD_DESCRIPTION',
        `no stack was ever started on ${data} (--data, --url)`,
      );
    }
    const { operator } = portsFromEnvironment(process.env);
    return openOperator(`http://${LOOPBACK}:${operator}`, loadOrMakeKeys(file).operatorToken);
  }
  const token = process.env[tokenVariable] ?? '';
  if (token === '') throw new StackError('BAD_DESCRIPTION', `${tokenVariable} is not set`);
  return openOperator(url, token);
}
