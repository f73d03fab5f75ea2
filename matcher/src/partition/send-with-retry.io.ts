import { Fault, reactionTo } from '@pm/kit/fault';
import type { LogProducer, OutgoingRecord, RecordPlace } from '@pm/kit/kafka';

/** Retry budget of a send whose records were certainly not written. */
export interface RetryRules {
  readonly triesMax: number;
  readonly firstWaitMs: number;
  readonly waitMaxMs: number;
  pause(ms: number): Promise<void>;
}

/**
 * Sends, and sends again while the fault says that nothing was written (`retry`). Throws the `Fault` of another
 * reaction at once, and `send_given_up` (release) after the last try.
 */
export async function sendWithRetry(
  producer: Pick<LogProducer, 'send'>,
  records: readonly OutgoingRecord[],
  rules: RetryRules,
): Promise<readonly RecordPlace[]> {
  let waitMs = rules.firstWaitMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await producer.send(records);
    } catch (error) {
      if (reactionTo(error) !== 'retry') throw error;
      if (attempt >= rules.triesMax) throw givenUp(records, attempt, error);
      await rules.pause(waitMs);
      waitMs = Math.min(waitMs * 2, rules.waitMaxMs);
    }
  }
}

function givenUp(records: readonly OutgoingRecord[], tries: number, cause: unknown): Fault {
  const [first] = records;
  const facts = { topic: first?.topic ?? '', partition: first?.partition ?? -1, tries };
  return new Fault('send_given_up', 'release', { facts, cause });
}
