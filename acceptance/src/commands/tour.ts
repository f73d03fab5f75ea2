import { join } from 'node:path';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf, StackError } from '@pm/deploy/local/stack-error';
import { stackStatus } from '@pm/deploy/stack/control';
import { Command } from 'commander';
import { runTour, type Visit } from '../tour/run-tour.ts';

/** `npm run tour`: a first trade, then every read, one line each. Exit code 0 when all of them respond with data. */
const given = new Command('npm run tour --')
  .description('Calls every read of the running stack of a data folder, or of any exchange.')
  .option('--base-url <url>', 'base URL of the exchange')
  .option(
    '--data <folder>',
    'data folder of the running stack',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--account <number>', 'number of the public test wallet that trades, 0 to 9', Number, 0)
  .parse()
  .opts<{ baseUrl?: string; data: string; account: number }>();

const shownChars = 100;
let visits = 0;

async function findBaseUrl(): Promise<string> {
  if (given.baseUrl !== undefined) return given.baseUrl;
  const running = await stackStatus(given.data);
  if (running === null)
    throw new StackError(
      'BAD_DESCRIPTION',
      `no stack runs on ${given.data}: npm start, or --base-url`,
    );
  if (running.isStarting)
    throw new StackError('BAD_DESCRIPTION', 'the stack is starting: npm run stack -- status');
  return running.baseUrl;
}

function show({ stop, target, status, body, problem }: Visit): void {
  visits += 1;
  const [method] = stop.route.split(' ');
  const note = problem === null ? '' : `   <-- ${problem}`;
  console.log(`${status} ${method} ${target}${note}`);
  console.log(`    ${body.length > shownChars ? `${body.slice(0, shownChars)}...` : body}`);
  if (problem === null && stop.mayBeEmpty !== undefined)
    console.log(`    (may be empty: ${stop.mayBeEmpty})`);
}

let isWell = false;
try {
  const visitor = testAccounts()[given.account];
  if (visitor === undefined) throw new StackError('BAD_DESCRIPTION', 'test wallets are 0 to 9');
  isWell = await runTour(await findBaseUrl(), visitor, show);
  console.log(`${visits} reads, ${isWell ? 'all with data' : 'not all with data'}`);
} catch (error) {
  console.error(messageOf(error));
}
process.exit(isWell ? 0 : 1);
