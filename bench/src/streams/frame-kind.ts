/** Kind of a frame for a reader of the benchmark: `data` are the messages after the snapshots. */
export type FrameKind = 'welcome' | 'subscribed' | 'snapshot' | 'data' | 'heartbeat' | 'other';

/** Where the name of the type begins: every frame begins with `{"type":"`. */
const nameAt = 9;
const kinds: readonly (readonly [start: string, kind: FrameKind])[] = [
  ['delta', 'data'],
  ['heartbeat', 'heartbeat'],
  ['event', 'data'],
  ['checksum', 'data'],
  ['snapshot', 'snapshot'],
  ['subscribed', 'subscribed'],
  ['welcome', 'welcome'],
];
const longestName = 'subscribed"'.length;
const names = kinds.map(([start, kind]) => ({ bytes: Buffer.from(`${start}"`), kind }));

/** By its first bytes: a reader that parsed every frame would take more time than the service that is measured. */
export function frameKind(frame: Buffer): FrameKind {
  if (frame.length < nameAt + longestName) return 'other';
  const found = names.find(({ bytes }) => {
    return frame.compare(bytes, 0, bytes.length, nameAt, nameAt + bytes.length) === 0;
  });
  return found?.kind ?? 'other';
}
