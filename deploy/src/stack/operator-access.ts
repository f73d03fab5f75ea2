import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { isInImage } from '../installation/tool-call.ts';
import { repositoryRoot } from '../local/paths.ts';
import { loopback, portsFromEnvironment } from '../local/ports.ts';
import { StackError } from '../local/stack-error.ts';
import { loadOrMakeKeys } from '../setup/keys.ts';
import { type Operator, openOperator } from './operator.ts';

/** The operator's listener of a command: that of a data folder, or the one at an address. */
export interface OperatorArguments {
  readonly data: string;
  readonly url?: string;
}

const tokenVariable = 'PM_OPERATOR_TOKEN';

/** Adds the options of `OperatorArguments`. */
export function withOperatorArguments(command: Command): Command {
  return command
    .option(
      '--data <folder>',
      'data folder of the local stack, for its token',
      process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
    )
    .option(
      '--url <address>',
      `the operator's listener elsewhere; its token is in ${tokenVariable}`,
    );
}

const noListener = `name the operator's listener as containers reach it (--url), and set ${tokenVariable}`;

/** Throws a `StackError` when there is no token. */
export function operatorFor({ data, url }: OperatorArguments): Operator {
  if (url === undefined) {
    const file = join(data, 'keys.json');
    if (isInImage) throw new StackError('BAD_DESCRIPTION', noListener);
    if (!existsSync(file)) {
      throw new StackError(
        'BAD_DESCRIPTION',
        `no stack was ever started on ${data} (--data, --url)`,
      );
    }
    const { operator } = portsFromEnvironment(process.env);
    return openOperator(`http://${loopback}:${operator}`, loadOrMakeKeys(file).operatorToken);
  }
  const token = process.env[tokenVariable] ?? '';
  if (token === '') throw new StackError('BAD_DESCRIPTION', `${tokenVariable} is not set`);
  return openOperator(url, token);
}
