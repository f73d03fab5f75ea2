/**
 * The reaction of a process to a fault (hacking.md):
 * `retry`   the same step again, bounded;
 * `skip`    count it, dead-letter it, go on;
 * `release` give the partition back and let an owner restore it;
 * `stop`    end the process: going on could write something wrong.
 */
export type FaultReaction = 'retry' | 'skip' | 'release' | 'stop';

/** An error whose reaction is part of its value. Facts are ids and numbers only, never orders or keys. */
export class Fault extends Error {
  readonly code: string;
  readonly reaction: FaultReaction;
  readonly facts: Readonly<Record<string, string | number | boolean>>;

  constructor(
    code: string,
    reaction: FaultReaction,
    options: { facts?: Record<string, string | number | boolean>; cause?: unknown } = {},
  ) {
    super(
      describe(code, options.facts),
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = 'Fault';
    this.code = code;
    this.reaction = reaction;
    this.facts = options.facts ?? {};
  }
}

/** The reaction to any thrown value; what is not a `Fault` was not foreseen, so it stops the process. */
export function reactionTo(error: unknown): FaultReaction {
  return error instanceof Fault ? error.reaction : 'stop';
}

function describe(code: string, facts: Record<string, string | number | boolean> = {}): string {
  const pairs = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? code : `${code} (${pairs.join(', ')})`;
}
