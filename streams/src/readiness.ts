/** State of the process on which readers of streams depend. */
interface StreamsFacts {
  readonly isListening: boolean;
  readonly partitions: readonly {
    readonly partition: number;
    readonly isCaughtUp: boolean;
    readonly fault: string | null;
  }[];
  /** Readers of the log without answers, as reasons. */
  readonly notFollowed: readonly string[];
}

/** Serves while it has a partition up to date: channels of the others are refused by themselves. */
export function servesSome({ isListening, partitions }: StreamsFacts): boolean {
  return isListening && partitions.some(({ isCaughtUp, fault }) => isCaughtUp && fault === null);
}

/** Why the process is not ready; empty when it is. */
export function reasonsOf({ isListening, partitions, notFollowed }: StreamsFacts): string[] {
  const followed = partitions.flatMap(({ partition, isCaughtUp, fault }) => {
    if (!isCaughtUp) return [`restoring:${partition}`];
    return fault === null ? [] : [`log:${partition}`];
  });
  return [
    ...(isListening ? [] : ['catalog']),
    ...(partitions.length === 0 ? ['kafka'] : followed),
    ...notFollowed,
  ];
}
