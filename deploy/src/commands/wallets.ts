import { Command } from 'commander';
import { toolUsage } from '../installation/tool-call.ts';
import { messageOf, StackError } from '../local/stack-error.ts';
import {
  type OperatorArguments,
  operatorFor,
  withOperatorArguments,
} from '../stack/operator-access.ts';
import { type BindTotals, bindWallets, linesOfFile } from '../stack/wallet-file.ts';

/** `npm run wallets -- bind FILE`: binds the wallets of a file to their owners; exit code 1 when a line was refused. */
const program = new Command(toolUsage('wallets'));
withOperatorArguments(
  program
    .command('bind <file>')
    .description(
      'lines of wallet,owner (.csv) or {"wallet", "owner"} (.ndjson); can be interrupted and repeated',
    ),
).action(bindFile);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof StackError ? error.message : messageOf(error));
  process.exit(1);
}

async function bindFile(file: string, given: OperatorArguments): Promise<void> {
  const totals = await bindWallets(operatorFor(given), linesOfFile(file), {
    onPage: (sofar) => console.error(progressLine(sofar)),
    onRefused: (line, reason) => console.error(`line ${line} of ${file}: ${reason}`),
  });
  console.log(progressLine(totals));
  if (totals.refused > 0) process.exitCode = 1;
}

function progressLine({ bound, already, refused }: BindTotals): string {
  const lines = bound + already + refused;
  return `${lines} wallets: ${bound} bound, ${already} unchanged, ${refused} refused`;
}
