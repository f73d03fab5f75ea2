import { join } from 'node:path';
import { handOnCall, toolUsage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf } from '@pm/deploy/local/stack-error';
import { operatorsFileIn } from '@pm/deploy/setup/operators';
import { operatorRoles } from '@pm/schemas/operators';
import { Command } from 'commander';
import { addOperator, removeOperator, shownOperators } from '../operators/operators-file.ts';

/**
 * `npm run operators`: who may use the operator's listener. Processes read the file again within a second. Exit code 1
 * when a change was refused.
 */
const folder = process.env['PM_DATA'] ?? join(repositoryRoot, 'data');
const program = new Command(toolUsage('operators')).option(
  '--file <file>',
  'file of the operators',
  process.env['PM_OPERATORS_FILE'] ?? operatorsFileIn(folder),
);
const file = () => program.opts<{ file: string }>().file;

program
  .command('add <name>')
  .description(`adds an operator and prints its token, once; roles: ${operatorRoles.join(', ')}`)
  .requiredOption('--roles <roles>', 'separated by commas')
  .option('--expires <time>', 'when its token ends, ISO 8601 in UTC: 2027-01-01T00:00:00Z')
  .action((name: string, { roles, expires }: { roles: string; expires?: string }) => {
    const expiresAt = expires === undefined ? {} : { expiresAt: expires };
    const token = addOperator(file(), { name, roles: roles.split(','), ...expiresAt });
    console.error(`${name} is in ${file()}. The token is shown only now:`);
    console.log(token);
    sayHandOn();
  });

program
  .command('remove <name>')
  .description('removes an operator; its token opens nothing any more')
  .action((name: string) => {
    removeOperator(file(), name);
    console.error(`${name} is no longer in ${file()}`);
    sayHandOn();
  });

program
  .command('list')
  .description('lists the operators')
  .action(() => {
    for (const line of shownOperators(file(), Date.now())) console.log(line);
  });

function sayHandOn(): void {
  if (handOnCall !== null) console.error(`hand it on to the operator's service: ${handOnCall}`);
}

try {
  program.parse();
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
