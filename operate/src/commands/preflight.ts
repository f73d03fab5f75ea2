import {
  externalSetupOptions,
  type SetupArguments,
  withSetupArguments,
} from '@pm/deploy/commands/stack-options';
import { toolUsage } from '@pm/deploy/installation/tool-call';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { preflightOptions } from '../preflight/options.ts';
import { preflightText } from '../preflight/output.ts';
import { type PreflightLine, runPreflight } from '../preflight/run-preflight.ts';

/**
 * `npm run preflight`: asks engines of another installation for each need of the exchange, and changes nothing. One
 * line for each; exit code 0 when none is a no, else 1.
 */
const given = withSetupArguments(new Command(toolUsage('preflight')))
  .description(
    'Says of each engine, and of each need of the exchange, yes, no or unknown, with the variables and options of STACK=external npm start -- --setup-only. Changes nothing.',
  )
  .option('--json', 'one line of JSON for each need')
  .parse()
  .opts<SetupArguments & { readonly json?: boolean }>();

const show = (line: PreflightLine) =>
  console.log(given.json === true ? JSON.stringify(line) : preflightText(line));

let isFit = false;
try {
  const setup = externalSetupOptions(given, process.env);
  isFit = await runPreflight(preflightOptions(setup, process.env), show);
} catch (error) {
  console.error(messageOf(error));
}
process.exit(isFit ? 0 : 1);
