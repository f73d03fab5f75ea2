import { Fault } from '../fault/index.ts';

/** The facts of a kafkajs error; its class is not checked, since wrapped errors lose it. */
export interface KafkajsFailure {
  readonly name: string;
  /** Protocol error, e.g. `ILLEGAL_GENERATION`; empty when it is none. */
  readonly type: string;
  /** Whether the same request may succeed later, by kafkajs' table of protocol errors. */
  readonly retriable: boolean;
  readonly host: string | null;
  readonly port: number | null;
  readonly topic: string | null;
  readonly partition: number | null;
}

/** The message of a plain error that kafkajs throws where a connection was closed between its choice and its use. */
const notConnected = 'Broker not connected';

/** The innermost cause of an error of kafkajs, as plain facts. */
export function failureOf(error: unknown): KafkajsFailure {
  const inner = innermost(error);
  const isNotConnected = textOf(inner, 'message') === notConnected;
  return {
    name: isNotConnected ? 'KafkaJSNotConnected' : (textOf(inner, 'name') ?? 'unknown'),
    type: textOf(inner, 'type') ?? '',
    retriable: fieldOf(inner, 'retriable') === true,
    host: textOf(inner, 'host'),
    port: numberOf(inner, 'port'),
    topic: textOf(inner, 'topic'),
    partition: numberOf(inner, 'partition'),
  };
}

/** Whether the error is a broker's answer; any other is a lost request. */
export function isAnswer(error: unknown): boolean {
  return failureOf(error).type !== '';
}

/** Whether a broker does not know a topic of the request. */
export function isUnknownTopic(error: unknown): boolean {
  return failureOf(error).type === 'UNKNOWN_TOPIC_OR_PARTITION';
}

/** The failure in logs and faults. */
export function failureFacts(error: unknown): Record<string, string> {
  const { name, type } = failureOf(error);
  return type === '' ? { cause: name } : { cause: name, type };
}

/** A wrong user or password: no later attempt changes it. */
const signInFailure = 'KafkaJSSASLAuthenticationError';

/** A broker was not connected or has not answered in time, by our own limits. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

/** A request is not waited for any longer: another broker leads what it is about. */
export class LeaderMoved extends Error {
  override readonly name = 'LeaderMoved';
}

/** Whether an error is one that another attempt may not meet: no connection or leader now. */
export function isPassing(error: unknown): boolean {
  const { name, type, retriable } = failureOf(error);
  if (type !== '') return retriable;
  if (name === 'NoResponse' || name === 'LeaderMoved') return true;
  return name.startsWith('KafkaJS') && name !== signInFailure;
}

/** The `Fault` `log_away` (retry) for an error that passes, any other as it is. */
export function asFault(error: unknown): unknown {
  if (error instanceof Fault || !isPassing(error)) return error;
  return new Fault('log_away', 'retry', { facts: failureFacts(error), cause: error });
}

const maxCauses = 8;

function innermost(error: unknown): unknown {
  let current = error;
  for (let depth = 0; depth < maxCauses; depth += 1) {
    const next =
      fieldOf(current, 'originalError') ??
      fieldOf(current, 'cause') ??
      // Creations of topics fail together.
      fieldOf(fieldOf(current, 'errors'), '0');
    if (!(next instanceof Error)) return current;
    current = next;
  }
  return current;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown, name: string): string | null {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : null;
}

function numberOf(value: unknown, name: string): number | null {
  const field = fieldOf(value, name);
  return typeof field === 'number' ? field : null;
}
