import type { StreamPosition, SubscribeFrame } from '@pm/schemas/streams/client-frames';
import type { StreamErrorCode } from '@pm/schemas/streams/codes';
import type { ReplayStart } from '../feed/replay-plan.ts';
import type { Target } from './targets.io.ts';

/** How a subscription begins: with a snapshot, or with messages after those that the client has. */
export interface Opening {
  readonly target: Target;
  /** Null for a snapshot. */
  readonly start: ReplayStart | null;
  /** The number after which messages follow, or that the snapshot has at least. */
  readonly seq: number;
  /** Messages before the snapshot are missing, whatever it says. */
  readonly isGap: boolean;
}

/** The positions of a frame: of one key, or for `own` of its partitions. */
export function openingsOf(
  targets: readonly Target[],
  { channel, from }: Pick<SubscribeFrame, 'channel' | 'from'>,
): readonly Opening[] | StreamErrorCode {
  const isOfSums = targets.some(({ publication }) => publication.numbering === 'sum');
  if (from !== undefined && isOfSums) return 'not_resumable';
  if (from !== undefined && channel !== 'own' && targets.length !== 1) return 'one_key_to_resume';
  const positions = from === undefined ? [] : [from].flat();
  const openings: Opening[] = [];
  for (const target of targets) {
    const opening = openingOf(target, positionOf(positions, target, channel === 'own'));
    if (typeof opening === 'string') return opening;
    openings.push(opening);
  }
  return openings;
}

function positionOf(
  positions: readonly StreamPosition[],
  { partition }: Target,
  isByPartition: boolean,
): StreamPosition | null {
  if (!isByPartition) return positions[0] ?? null;
  return positions.find((position) => position.partition === partition) ?? null;
}

function openingOf(target: Target, position: StreamPosition | null): Opening | StreamErrorCode {
  const newest = target.newestSeq();
  if (newest === null) return 'unavailable';
  if (position === null) return { target, start: null, seq: newest, isGap: false };
  const epoch = target.epoch();
  // A position of another log has no meaning in this one.
  if (position.epoch !== undefined && epoch !== null && position.epoch !== epoch)
    return { target, start: null, seq: newest, isGap: true };
  if ('offset' in position) {
    if (position.partition !== target.partition) return 'invalid_frame';
    return { target, start: { offset: position.offset + 1 }, seq: newest, isGap: false };
  }
  const { seq } = position;
  return target.mayHave(seq) ? { target, start: { seq }, seq, isGap: false } : 'position_ahead';
}
