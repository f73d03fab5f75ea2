import { failureFacts, failureOf, isAnswer } from './kafkajs-errors.ts';

/** Consequences of a failed attempt for its batch. */
export interface AttemptFailure {
  /** The request may have been appended. */
  readonly mayBeWritten: boolean;
  /** A broker has said it. */
  readonly wasAnswered: boolean;
  /** Another attempt may succeed. */
  readonly retriable: boolean;
  /** Producer state of the broker that does not fit: no further batch may use the identity. */
  readonly endsProducerId: boolean;
  /** For logs and faults. */
  readonly facts: Readonly<Record<string, string>>;
}

/** A request that left this process and has no answer, or one that never left it. */
export function lostAttempt(error: unknown, reached: boolean): AttemptFailure {
  return {
    mayBeWritten: reached,
    wasAnswered: isAnswer(error),
    retriable: true,
    endsProducerId: false,
    facts: failureFacts(error),
  };
}

/** The answer of a broker for one partition. */
export function refusedAttempt(error: unknown): AttemptFailure {
  const { type, retriable } = failureOf(error);
  return {
    mayBeWritten: !certainlyUnwritten.has(type),
    wasAnswered: true,
    retriable,
    endsProducerId: producerStateErrors.has(type),
    facts: failureFacts(error),
  };
}

/** A result lacks a partition of the request: nothing is known of its records. */
export const uncoveredAttempt: AttemptFailure = {
  mayBeWritten: true,
  wasAnswered: true,
  retriable: false,
  endsProducerId: false,
  facts: { cause: 'ResultIncomplete' },
};

/**
 * Answers before the append (https://kafka.apache.org/protocol#protocol_error_codes). Not among them: a leader that
 * lost its partition answers so also after it has appended and while it waited for its followers.
 */
const certainlyUnwritten: ReadonlySet<string> = new Set([
  'NOT_ENOUGH_REPLICAS',
  'OFFSET_OUT_OF_RANGE',
  'CORRUPT_MESSAGE',
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TIMESTAMP',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'POLICY_VIOLATION',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'INVALID_PRODUCER_EPOCH',
  'UNKNOWN_PRODUCER_ID',
]);

const producerStateErrors: ReadonlySet<string> = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'DUPLICATE_SEQUENCE_NUMBER',
  'INVALID_PRODUCER_EPOCH',
  'UNKNOWN_PRODUCER_ID',
]);
