/** A follower of a partition is not live while no fetch of it was answered for so long, milliseconds. */
export const readerSilenceMaxMs = 5_000;
/** After so long without an answered fetch a reader is opened again, or a partition restored, milliseconds. */
export const reopenAfterMs = 15_000;

/** For how long no fetch of a partition was answered that this process reads. */
export interface ReaderSilence {
  /** Name of the topic on the broker. */
  readonly topic: string;
  readonly partition: number;
  readonly silentMs: number;
}

/** Longest silence of each partition: of several readers of a partition each has to make progress. */
export function longestSilences(all: Iterable<ReaderSilence>): readonly ReaderSilence[] {
  const longest = new Map<string, ReaderSilence>();
  for (const one of all) {
    const key = `${one.topic} ${one.partition}`;
    if (one.silentMs > (longest.get(key)?.silentMs ?? -1)) longest.set(key, one);
  }
  return [...longest.values()];
}

/** The silences in which nothing is live. */
export function notLive(all: readonly ReaderSilence[]): readonly ReaderSilence[] {
  return all.filter(({ silentMs }) => silentMs > readerSilenceMaxMs);
}
