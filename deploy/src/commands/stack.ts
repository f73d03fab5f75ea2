import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { readClickhousePassword } from '../local/engines/clickhouse-password.ts';
import { messageOf, StackError } from '../local/stack-error.ts';
import { engineTable, failuresText, processTable } from '../panel/text.ts';
import { stackStatus } from '../stack/control.ts';
import { type StackArguments, withStackArguments } from './stack-options.ts';

/** `npm run stack -- up | down | status | logs SERVICE`: the stack of `npm start`, in the background. */
const pollMs = 300;
const stopTimeoutMs = 60_000;
const logLines = 100;

const program = new Command('npm run stack --');
withStackArguments(program.command('up').description('starts the stack in the background')).action(
  up,
);
withData(program.command('down').description('stops it in order; its data stays')).action(down);
withData(program.command('status').description('shows its processes')).action(status);
withData(program.command('logs <service>').description('prints the end of a log')).action(logs);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof StackError ? error.message : messageOf(error));
  process.exit(1);
}

function withData(command: Command): Command {
  const shared = withStackArguments(new Command()).options.find((one) => one.long === '--data');
  return shared === undefined ? command : command.addOption(shared);
}

async function up(given: StackArguments): Promise<void> {
  if ((await stackStatus(given.data)) !== null) {
    throw new StackError('DATA_FOLDER_LOCKED', 'the stack is up already (npm run stack -- status)');
  }
  const logFile = join(resolve(given.data), 'stack.log');
  mkdirSync(resolve(given.data), { recursive: true });
  const log = openSync(logFile, 'w');
  const start = fileURLToPath(new URL('./start.js', import.meta.url));
  const args = process.argv.slice(process.argv.indexOf('up') + 1);
  const child = spawn(process.execPath, [start, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  let code: number | null = null;
  child.once('exit', (exitCode) => {
    code = exitCode ?? 1;
  });
  const isUp = async () => (await stackStatus(given.data))?.isStarting === false;
  await follow(logFile, async () => code !== null || (await isUp()));
  if (code !== null) process.exit(code || 1);
  child.unref();
  process.exit(0);
}

/** Prints what is written to a file until `isDone`. */
async function follow(file: string, isDone: () => Promise<boolean>): Promise<void> {
  let printed = 0;
  for (let done = false; !done; ) {
    done = await isDone();
    await sleep(pollMs);
    const text = readFileSync(file, 'utf8');
    process.stdout.write(text.slice(printed));
    printed = text.length;
  }
}

async function down(given: StackArguments): Promise<void> {
  const running = await stackStatus(given.data);
  if (running === null) {
    console.log('nothing is running on this data folder');
    return;
  }
  process.kill(running.pid, 'SIGTERM');
  for (let waitedMs = 0; waitedMs < stopTimeoutMs; waitedMs += pollMs) {
    if (!existsSync(`/proc/${running.pid}`)) {
      console.log('stopped');
      return;
    }
    await sleep(pollMs);
  }
  throw new StackError('PROCESS_DIED', `process ${running.pid} did not stop within a minute`);
}

async function status(given: StackArguments): Promise<void> {
  const running = await stackStatus(given.data);
  if (running === null) {
    console.log('nothing is running on this data folder');
    process.exitCode = 3;
    return;
  }
  const url = running.isStarting ? `${running.baseUrl} is starting` : running.baseUrl;
  console.log(`${url}   logs: ${running.logDir}\n`);
  const readers =
    running.engines === 'local' ? readClickhousePassword(given.data, 'readers') : null;
  console.log(`${engineTable(running, readers)}\n`);
  console.log(processTable(running.processes));
  const failures = failuresText(running.processes);
  if (failures !== '') console.log(`\n${failures}`);
}

function logs(service: string, given: StackArguments): void {
  const folder = join(resolve(given.data), 'logs');
  const file = join(folder, `${service}.log`);
  if (!existsSync(file)) {
    const known = existsSync(folder)
      ? readdirSync(folder).map((name) => name.replace('.log', ''))
      : [];
    throw new StackError('BAD_DESCRIPTION', `no log of ${service}; there are: ${known.join(', ')}`);
  }
  console.log(readFileSync(file, 'utf8').split('\n').slice(-logLines).join('\n'));
  console.log(`(${file}, ${statSync(file).size} bytes)`);
}
