/** How far an instance of the stream service is, from what its own status says. */
export interface StreamInstance {
  /** False while it does not answer: the rest is not known then. */
  readonly known: boolean;
  /** Whether it has caught up and follows every partition of the log. */
  readonly follows: boolean;
  /** Records of the log that it has not taken. */
  readonly lag: number;
  /** The time for which it has not been able to follow some partition, milliseconds. */
  readonly faultMs: number;
}

export const silentInstance: StreamInstance = { known: false, follows: false, lag: 0, faultMs: 0 };

/** Reads the body of `/status` of the ops listener of an instance; anything else is no answer. */
export function readInstance(body: unknown): StreamInstance {
  const listed: unknown = isRecord(body) ? body['partitions'] : null;
  if (!Array.isArray(listed)) return silentInstance;
  const partitions = listed.filter(isRecord);
  const sumOf = (name: string) => partitions.reduce((sum, one) => sum + countOf(one[name]), 0);
  const follows = partitions.every(
    ({ isCaughtUp, fault }) => isCaughtUp === true && fault === null,
  );
  return {
    known: true,
    follows: follows && partitions.length > 0,
    lag: sumOf('lagRecords'),
    faultMs: Math.max(0, ...partitions.map(({ faultMs }) => countOf(faultMs))),
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const countOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.round(value) : 0;
