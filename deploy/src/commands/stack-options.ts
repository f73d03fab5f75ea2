import { join } from 'node:path';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas';
import type { Command } from 'commander';
import type { Progress } from '../local/managed-process.ts';
import { repositoryRoot } from '../local/paths.ts';
import { type Ports, portsFromEnvironment } from '../local/ports.ts';
import { StackError } from '../local/stack-error.ts';
import { engineMode } from '../stack/mode.ts';
import type { StackOptions } from '../stack/stack.ts';

/** What a person may say about a stack, on the command line. */
export interface StackArguments {
  readonly data: string;
  readonly port?: string;
  readonly replication: number;
  readonly feeWallet: string;
  readonly fresh?: boolean;
  readonly demo: boolean;
  readonly quoteSpeed: number;
  readonly tradeSpeed: number;
}

/** Adds the options that `npm start` and `npm run stack -- up` share. */
export function withStackArguments(command: Command): Command {
  return command
    .option(
      '--data <folder>',
      'where everything is kept',
      process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
    )
    .option('--port <port>', 'port of the base URL (others: PM_PORT_KAFKA, PM_PORT_REDIS ...)')
    .option('--replication <copies>', 'copies of each topic, for engines of your own', Number, 1)
    .option(
      '--fee-wallet <address>',
      'who is paid the fees, for ever; the operator withdraws from it',
      process.env['PM_FEE_WALLET'] || defaultFeeWallet,
    )
    .option('--fresh', 'begin anew: what the data folder keeps is removed first')
    .option('--no-demo', 'markets and wallets, but nobody trading')
    .option('--quote-speed <factor>', 'recorded quotes, 1 is real time', Number, 5)
    .option('--trade-speed <factor>', 'recorded trades, 1 is real time', Number, 20);
}

/** The same options as a stack understands them. */
export function stackOptions(given: StackArguments, progress: Progress): StackOptions {
  const { quoteSpeed, tradeSpeed } = given;
  return {
    mode: engineMode(process.env),
    dataDir: given.data,
    ports: portsOf(given),
    progress,
    replicationFactor: given.replication,
    feeWallet: feeWalletOf(given),
    fresh: given.fresh ?? false,
    seed: true,
    demo: given.demo ? { quoteSpeed, tradeSpeed } : null,
  };
}

function feeWalletOf({ feeWallet }: StackArguments): WalletAddress {
  const wallet = parseWalletAddress(feeWallet);
  if (wallet !== null) return wallet;
  const what = `the fee wallet is 0x and 40 hex digits, not ${feeWallet}`;
  throw new StackError('BAD_DESCRIPTION', `${what} (--fee-wallet, PM_FEE_WALLET)`);
}

function portsOf(given: StackArguments): Ports {
  const moved = given.port === undefined ? {} : { PM_PORT_GATEWAY: given.port };
  return portsFromEnvironment({ ...process.env, ...moved });
}
