import { findInstallation } from '@pm/deploy/installation/addresses';
import { logPlaceOf } from '@pm/deploy/installation/open';
import { toolCall, toolUsage } from '@pm/deploy/installation/tool-call';
import { messageOf } from '@pm/deploy/local/stack-error';
import { kafkaConnection } from '@pm/kit/config';
import { openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { Command } from 'commander';
import { runRepair } from '../repair/run-repair.ts';
import type { OutputGap } from '../repair/stored-outputs.ts';

/**
 * `npm run repair`: writes missing outputs of `executions`, computed from `orders`. Exit code 0 when none is missing
 * (any more), else 1.
 */
const given = new Command(toolUsage('repair'))
  .description(
    'Writes outputs that are missing in the topic executions, computed from orders, of the installation that PM_KAFKA_BROKERS and the others name. All services must be stopped, the engines running. After an interruption the next run resumes.',
  )
  .option('--dry-run', 'only say what is missing; services may run')
  .parse()
  .opts<{ dryRun?: boolean }>();

function lineOf({ partition, from, to, offset }: OutputGap): string {
  return `partition ${partition}: outputs of inputs ${from} to ${to - 1} are missing before offset ${offset}`;
}

const summaries = {
  whole: 'no output is missing',
  missing: 'outputs are missing: stop all services and run it without --dry-run',
  interrupted: 'an earlier run was interrupted: stop all services and run it without --dry-run',
  repaired: `repaired: start the services, then ${toolCall('audit')}`,
};

let code = 1;
let close = async () => {};
try {
  const addresses = await findInstallation(process.env, '');
  const kafka = kafkaConnection(addresses);
  const client = openLogClient({ ...kafka, clientId: 'repair', log: silentLog });
  close = () => client.close();
  const { gaps, state } = await runRepair(logPlaceOf(client, addresses), {
    dryRun: given.dryRun ?? false,
    onStep: (line) => console.error(line),
  });
  for (const gap of gaps) console.log(lineOf(gap));
  console.log(summaries[state]);
  code = state === 'repaired' || state === 'whole' ? 0 : 1;
} catch (error) {
  console.error(messageOf(error));
} finally {
  await close();
}
process.exit(code);
