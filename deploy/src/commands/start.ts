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

let stack: RunningStack | null = null;
let stopAsked = false;

async function stopInOrder(): Promise<void> {
  if (stopAsked) return;
  stopAsked = true;
  console.log('\nstopping in order; the books are kept for the next start');
  await stack?.stop();
  process.exit(0);
}

// A stack that is still starting is not stopped in order: its processes end with this one.
process.on('SIGINT', () => void (stack === null ? process.exit(130) : stopInOrder()));
process.on('SIGTERM', () => void (stack === null ? process.exit(143) : stopInOrder()));

try {
  const options = stackOptions(given, progress);
  if (given.setupOnly === true) {
    await setUpOnly(options);
    console.log(
      `\nset up; keys.json and operators.json are in ${given.data}, and nothing was started`,
    );
    process.exit(0);
  }
  // Its socket ends with this process.
  const onServices = async (shown: ShownStack): Promise<void> => {
    await openControl(given.data, shown, () => stack === null);
  };
  stack = await startStack({ ...options, onFatal: failWith, onServices });
  console.log(welcomeScreen(stack));
  const failures = failuresText(stack.supervisor.status());
  if (failures !== '') console.log(`${failures}\n`);
  await runPanel(stack, { isTerminal, isStopped: () => stopAsked });
} catch (error) {
  failWith(error);
}
