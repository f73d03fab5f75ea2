import { Command } from 'commander';
import { messageOf, StackError } from '../local/stack-error.ts';
import { runPanel } from '../panel/live.ts';
import { failuresText } from '../panel/text.ts';
import { welcomeScreen } from '../panel/welcome.ts';
import { openControl } from '../stack/control.ts';
import { type RunningStack, type ShownStack, setUpOnly, startStack } from '../stack/stack.ts';
import { type StackArguments, stackOptions, withStackArguments } from './stack-options.ts';

/** `npm start`: the whole exchange in the foreground, until Ctrl-C; with `--setup-only` its set-up alone. */
const given = withStackArguments(new Command('npm start --'))
  .option(
    '--setup-only',
    'with STACK=external: makes topics, schemas, partitions, keys and tables, and starts nothing',
  )
  .parse()
  .opts<StackArguments>();
const isTerminal = process.stdout.isTTY === true;
const startedAtMs = performance.now();

function progress(line: string): void {
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6);
  console.log(`${seconds} s  ${line}`);
}

function failWith(error: unknown): never {
  console.error(`\n${error instanceof StackError ? error.message : messageOf(error)}`);
  if (!(error instanceof StackError) && error instanceof Error) console.error(error.stack);
  process.exit(1);
}

/** Known once its services are being started. */
let shown: ShownStack | null = null;
let isStarting = true;
let stopAsked = false;
/** Exit code of a start that is stopped, as of a shell's command that was interrupted. */
const stoppedCode = 130;

async function stopInOrder(): Promise<void> {
  if (stopAsked) return;
  stopAsked = true;
  console.log('\nstopping in order; the books are kept for the next start');
  await shown?.stop();
  process.exit(isStarting ? stoppedCode : 0);
}

// Engines that are still starting are not stopped in order: they end with this process.
process.on('SIGINT', () => void (shown === null ? process.exit(stoppedCode) : stopInOrder()));
process.on('SIGTERM', () => void (shown === null ? process.exit(stoppedCode) : stopInOrder()));

async function show(stack: RunningStack): Promise<void> {
  isStarting = false;
  console.log(welcomeScreen(stack));
  const failures = failuresText(stack.supervisor.status());
  if (failures !== '') console.log(`${failures}\n`);
  await runPanel(stack, { isTerminal, isStopped: () => stopAsked });
}

try {
  const options = stackOptions(given, progress);
  if (given.setupOnly === true) {
    await setUpOnly(options);
    console.log(
      `\nset up; keys.json and operators.json are in ${given.data}, and nothing was started`,
    );
    process.exit(0);
  }
  const onServices = async (starting: ShownStack): Promise<void> => {
    shown = starting;
    await openControl(given.data, starting, () => isStarting);
  };
  const stack = await startStack({ ...options, onFatal: failWith, onServices });
  if (!stopAsked) await show(stack);
} catch (error) {
  // A start that is stopped rejects; the process ends with the stop.
  if (!stopAsked) failWith(error);
}
