import { join } from 'node:path';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf, StackError } from '@pm/deploy/local/stack-error';
import { stackStatus } from '@pm/deploy/stack/control';
import { Command } from 'commander';
import { runTour, type Seen } from '../tour/run-tour.ts';

/** `npm run tour`: a first trade, and every read there is, one line each. Exit code 0 when all of them answer with data. */
const given = new Command('npm run tour --')
  .description('Visits the running stack of a data folder, or any exchange by its URL.')
  .option('--base-url <url>', 'where the exchange is')
  .option(
    '--data <folder>',
    'data folder of the running stack',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--account <number>', 'which of the ten public test wallets visits', Number, 0)
  .parse()
  .opts<{ baseUrl?: string; data: string; account: number }>();

const shownChars = 100;
let seenCount = 0;

async function whereItIs(): Promise<string> {
  if (given.baseUrl !== undefined) return given.baseUrl;
  const running = await stackStatus(given.data);
  if (running === null)
    throw new StackError(
      'BAD_DESCRIPTION',
      `no stack runs on ${given.data}: npm start, or --base-url`,
    );
  return running.baseUrl;
}

function show({ stop, target, status, answer, wrong }: Seen): void {
  seenCount += 1;
  const [method] = stop.route.split(' ');
  const note = wrong === null ? '' : `   <-- ${wrong}`;
  console.log(`${status} ${method} ${target}${note}`);
  console.log(`    ${answer.length > shownChars ? `${answer.slice(0, shownChars)}...` : answer}`);
  if (wrong === null && stop.mayBeEmpty !== undefined)
    console.log(`    (may be empty: ${stop.mayBeEmpty})`);
}

let isWell = false;
try {
  const visitor = testAccounts()[given.account];
  if (visitor === undefined) throw new StackError('BAD_DESCRIPTION', 'test wallets are 0 to 9');
  isWell = await runTour(await whereItIs(), visitor, show);
  console.log(`${seenCount} reads, ${isWell ? 'all with an answer' : 'not all with an answer'}`);
} catch (error) {
  console.error(messageOf(error));
}
process.exit(isWell ? 0 : 1);
