/**
 * Outlives its supervisor by a moment: when its standard input ends without the word "done", the
 * supervisor is gone (kill -9 included), and it ends the processes that it started, by the ledger.
 * So nothing is left running. Arguments: the ledger's file and the supervisor's number.
 */
import { endOrphans } from './process-ledger.ts';

const [ledger, supervisor] = process.argv.slice(2);
let said = '';

// The terminal's Ctrl-C goes to the supervisor, which tells us when it is done.
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
