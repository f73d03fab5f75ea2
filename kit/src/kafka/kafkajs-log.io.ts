import { type LogEntry, logLevel } from 'kafkajs';
import type { Log } from '../log/index.ts';

/** Facts of kafkajs that may be kept: ids, numbers and error names, never record contents. */
const keptFacts = [
  'groupId',
  'memberId',
  'clientId',
  'broker',
  'nodeId',
  'topic',
  'partition',
  'correlationId',
  'retryCount',
  'retryTime',
  'error',
] as const;

/** Lines that describe what this client does on purpose. */
const expected = ['Limiting retries for the idempotent producer'];

const maxMessageChars = 300;

/**
 * Writes kafkajs' log lines to our log. Its errors are often the first of several retries, so they become warnings:
 * the fault that the client reports is the error.
 */
export function kafkajsLog(log: Log): () => (entry: LogEntry) => void {
  const own = log.child({ part: 'kafkajs' });
  return () => (entry) => {
    const message = entry.log.message.slice(0, maxMessageChars);
    if (expected.some((start) => message.startsWith(start))) return;
    const facts = factsOf(entry);
    if (entry.level === logLevel.ERROR || entry.level === logLevel.WARN) own.warn(facts, message);
    else own.debug(facts, message);
  };
}

function factsOf(entry: LogEntry): Record<string, string | number> {
  const facts: Record<string, string | number> = { namespace: entry.namespace };
  for (const name of keptFacts) {
    const value: unknown = entry.log[name];
    if (typeof value === 'number') facts[name] = value;
    else if (typeof value === 'string') facts[name] = value.slice(0, maxMessageChars);
  }
  return facts;
}
