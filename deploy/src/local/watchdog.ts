/**
 * Outlives its supervisor briefly: when its standard input ends without "done", the supervisor is gone (kill -9
 * included), and the watchdog ends the supervisor's processes by the list on disk. Arguments: the file of the list and
 * the supervisor's process id.
 */
import { endOrphans } from './process-ledger.ts';

const [ledger, supervisor] = process.argv.slice(2);
let said = '';

// The terminal's Ctrl-C goes to the supervisor, which writes "done" at its end.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  said += text;
});
process.stdin.on('end', () => {
  if (said.startsWith('done') || ledger === undefined) return;
  endOrphans(ledger, Number(supervisor)).then((names) => {
    if (names.length > 0) console.log(`the supervisor is gone; ended ${names.join(', ')}`);
  }, console.error);
});
