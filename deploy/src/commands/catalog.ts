import { Command } from 'commander';
import { toolUsage } from '../installation/tool-call.ts';
import { messageOf, StackError } from '../local/stack-error.ts';
import { eventsOfFile, importCatalog, progressLine } from '../stack/catalog-file.ts';
import {
  type OperatorArguments,
  operatorFor,
  withOperatorArguments,
} from '../stack/operator-access.ts';

/** `npm run catalog -- import FILE`: lists the events of a file, with progress; the same again changes nothing. */
interface Given extends OperatorArguments {
  readonly onlyNew?: boolean;
}

const program = new Command(toolUsage('catalog'));
withOperatorArguments(
  program
    .command('import <file>')
    .description(
      'events as {"events": [...]} or one per line (.ndjson); can be interrupted and repeated',
    ),
)
  .option('--only-new', 'leaves listed markets unchanged, whatever the file says')
  .action(importFile);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof StackError ? error.message : messageOf(error));
  process.exit(1);
}

async function importFile(file: string, given: Given): Promise<void> {
  const startedAtMs = performance.now();
  const seconds = () => (performance.now() - startedAtMs) / 1000;
  const operator = operatorFor(given);
  const importEvents = given.onlyNew ? operator.importNewEvents : operator.importEvents;
  const totals = await importCatalog({ importEvents }, eventsOfFile(file), (sofar) =>
    console.error(progressLine(sofar, seconds())),
  );
  console.log(progressLine(totals, seconds()));
}
